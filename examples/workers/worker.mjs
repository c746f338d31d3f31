// A worker that polls: activate, work, then complete or fail. Node 18 or newer, no package.

import { hostname } from "node:os";

const env = process.env;
const URL_ = (env.HEADRACE_URL ?? "http://127.0.0.1:8080") + "/api/v1";
const TYPE = env.JOB_TYPE ?? "validate-order";
const BACKOFF_MS = Number(env.BACKOFF_S ?? "1") * 1_000; // before a failure is told
const POLL_MS = 20_000; // how long the server waits for a first job
const TIMEOUT_MS = 30_000; // of a call
const LATER_MS = 1_000; // before a call that failed on the way is repeated

// Do the job: this is the part that is yours.
async function work(job) {
  const amount = job.variables.amount;
  if (typeof amount !== "number") {
    throw new Error(`expected a number as amount, found ${JSON.stringify(amount)}`);
  }
  return { valid: 0 < amount && amount <= 1_000 };
}

// Work until the process is ended.
async function main() {
  const query = new URLSearchParams({
    type: TYPE,
    worker: `node-${hostname()}-${process.pid}`,
    maxJobs: "1",
    requestTimeout: String(POLL_MS),
  });
  console.log(`waiting for jobs of type ${TYPE} at ${URL_}`);
  for (;;) {
    const { jobs = [] } = await call("GET", `/jobs/activate?${query}`);
    for (const job of jobs) await handle(job);
  }
}

// Do one job and say what came of it.
async function handle(job) {
  let variables;
  try {
    variables = await work(job);
  } catch (error) {
    await pause(BACKOFF_MS); // the job stays ours meanwhile
    const retries = Math.max(0, job.retries - 1);
    return report(job, "fail", { retries, errorMessage: error.message });
  }
  return report(job, "complete", { variables });
}

// Complete or fail a job; one that is over needs neither.
async function report(job, verb, body) {
  const answer = await call("POST", `/jobs/${job.key}/${verb}`, body);
  console.log(`job ${job.key}: ${answer.error ?? verb}`);
}

// Call the server until it answers; what is refused comes back as {"error": …}.
async function call(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  if (env.HEADRACE_API_KEY) headers["X-API-Key"] = env.HEADRACE_API_KEY;
  for (;;) {
    let problem;
    try {
      const answer = await fetch(URL_ + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (answer.ok || (answer.status === 404 && method === "POST")) return await answer.json();
      problem = `${answer.status} ${await answer.text()}`;
      if (answer.status < 500) {
        console.error(`${method} ${path}: ${problem}`);
        process.exit(1);
      }
    } catch (error) {
      problem = error.message;
    }
    console.error(`${method} ${path}: ${problem}; again in ${LATER_MS} ms`);
    await pause(LATER_MS);
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
await main();
