"""Runs of jobs of type "http": one request, its redirects, and what its status means."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

from chalicelib import logs
from chalicelib.runners import ending, requests, urls
from chalicelib.runners.client import BODY_MAX, Answer, Client, NoAnswer
from chalicelib.runners.deadline import Deadline
from chalicelib.runners.ending import Ending
from chalicelib.runners.references import SecretMissing, Secrets
from chalicelib.runners.requests import Request, Unsendable
from chalicelib.runners.urls import Unparseable
from chalicelib.scheduler.definition import Auth, ScheduledJob


class UnknownAuth(ValueError):
    """The auth type is none of ours."""


@dataclass(frozen=True, slots=True)
class HttpRunner:
    """Makes HTTP calls."""

    client: Client
    secrets: Secrets

    def run(self, job: ScheduledJob, pool_idx: int, timeout: timedelta) -> Ending:
        """Make one call: a status from 200 to 299 and a whole body are a success (Z55 to Z58).

        Of a body longer than BODY_MAX the rest is not read: the status decides, a loop looks
        for its path in what was read, and a line of the log says so.
        """
        deadline = Deadline.after(timeout)
        try:
            request = self.request(job, pool_idx)
            answer = self.client.send(request, deadline)
        except Unparseable as error:
            return ending.cancelled(f"http.url: {error}")
        except UnknownAuth as error:
            return ending.cancelled(f"http.auth.type: {error}")
        except Unsendable as error:
            return ending.cancelled(f"http: {error}")
        except SecretMissing as error:
            return ending.failed(str(error))
        except NoAnswer as error:
            return ending.failed(str(error), status_code=error.status)
        return replace(_judged(job, answer), secrets=request.secrets)

    def request(self, job: ScheduledJob, pool_idx: int) -> Request:
        """Return the first request of a call.

        Shapes: the pool index is in the query of jobs whose pool has more than one member, and
            nowhere in the request of others (Z71 to Z73).
        Raises: Unparseable, UnknownAuth, Unsendable, SecretMissing.
        """
        call = job.http
        url = urls.parse(call.url)
        if job.pool_count > 1 or pool_idx:  # the pool may be smaller than when it was fired
            url = urls.with_pool_index(url, pool_idx)
        try:
            name, value, *secrets = self._auth(call.auth)
            headers = call.headers
            if name:
                headers = (*requests.without(headers, {name.lower()}), (name, value))
            body = None if call.body is None else call.body.encode()
        except UnicodeEncodeError as error:
            raise Unsendable("the body or the auth has a character that is none") from error
        private = frozenset({name.lower()})
        request = Request(call.method or "GET", url, headers, body, private, tuple(secrets))
        requests.check(request)
        return request

    def _auth(self, auth: Auth) -> tuple[str, ...]:
        """Return the header by which a call names itself and what is secret in it.

        Shapes: the header's name and value, both empty if it does not, then the secrets.
        """
        match auth.type:
            case "" | "none":
                return "", ""
            case "basic":
                password = self.secrets.reveal(auth.password)
                value = requests.basic(auth.username, password)
                return "Authorization", value, password, value.removeprefix("Basic ")
            case "bearer":
                token = self.secrets.reveal(auth.token)
                return "Authorization", f"Bearer {token}", token
            case "header":
                if not auth.header:
                    raise Unsendable("expected http.auth.header to name a header, found nothing")
                value = self.secrets.reveal(auth.value)
                return auth.header, value, value
        raise UnknownAuth(f"expected none, basic, bearer or header, found {auth.type[:50]!r}")


def _judged(job: ScheduledJob, answer: Answer) -> Ending:
    if not 200 <= answer.status <= 299:
        error = f"expected a status from 200 to 299, found {answer.status}"
        return ending.failed(error, answer.body, status_code=answer.status)
    if answer.is_cut:
        words = "the body is longer than what is read of it"
        logs.line(logging.WARNING, words, job_id=job.id, limit_bytes=BODY_MAX)
    return ending.succeeded(answer.body, status_code=answer.status)
