#!/usr/bin/env bash
# A worker that polls: activate, work, then complete or fail. Needs curl and jq.
set -euo pipefail

url=${HEADRACE_URL:-http://127.0.0.1:8080}/api/v1
type=${JOB_TYPE:-validate-order}
backoff_s=${BACKOFF_S:-1} # before a failure is told

# Do the job, which comes as JSON; print the variables, or what went wrong and fail.
# This is the part that is yours.
work() {
  jq -e -c '.variables.amount | if type == "number" then {valid: (0 < . and . <= 1000)}
            else "expected a number as amount" | halt_error(1) end' <<<"$1"
}

# Call the server until it answers; a 404 of a job that is over is an answer as well.
call() {
  local method=$1 path=$2 body=${3:-} options answer
  options=(-sS -m 30 -X "$method" -w '\n%{http_code}')
  options+=(-H 'Content-Type: application/json')
  if [ -n "${HEADRACE_API_KEY:-}" ]; then options+=(-H "X-API-Key: $HEADRACE_API_KEY"); fi
  if [ -n "$body" ]; then options+=(-d "$body"); fi
  while :; do
    if answer=$(curl "${options[@]}" "$url$path"); then
      case ${answer##*$'\n'} in
        2?? | 404) echo "${answer%$'\n'*}" && return ;;
        4??) echo "$method $path: $answer" >&2 && exit 1 ;;
      esac
    fi
    sleep 1
  done
}

echo "waiting for jobs of type $type at $url"
query="type=$(jq -rn --arg type "$type" '$type | @uri')&worker=bash-$$&maxJobs=1&requestTimeout=20000"
while :; do
  call GET "/jobs/activate?$query" | jq -c '.jobs[]' | while read -r job; do
    key=$(jq -r .key <<<"$job")
    if said=$(work "$job" 2>&1); then
      verb=complete body=$(jq -c '{variables: .}' <<<"$said")
    else
      sleep "$backoff_s" # the job stays ours meanwhile
      verb=fail
      body=$(jq -c --arg why "$said" '{retries: ([.retries - 1, 0] | max), errorMessage: $why}' <<<"$job")
    fi
    call POST "/jobs/$key/$verb" "$body" | jq -r --arg done "job $key: $verb" '.error // $done'
  done
done
