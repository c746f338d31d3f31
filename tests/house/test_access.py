"""No route is without the authorizer, and who may call what is data."""

from __future__ import annotations

from app import app
from chalicelib.access import Role
from chalicelib.api import authorizer
from chalicelib.api.operation import operation_of
from tests.api.published import prefix_of
from tests.house.source import modules

VIEWS = [(p, e.view_function) for p, methods in app.routes.items() for e in methods.values()]
IDS = {operation.id for operation in (operation_of(view) for _, view in VIEWS) if operation}


def test_every_role_is_given_to_an_operation_that_there_is() -> None:
    assert set() == authorizer.ROLES.keys() - IDS
    assert set() == authorizer.UNPUBLISHED - app.routes.keys()


def test_a_route_is_published_by_its_operation_or_named_by_the_authorizer() -> None:
    bare = {path for path, view in VIEWS if operation_of(view) is None}

    assert authorizer.UNPUBLISHED == bare
    assert [] == [path for path in bare if prefix_of(path)]


def test_an_operator_may_call_everything_and_nobody_else_what_is_not_named() -> None:
    assert all(Role.OPERATOR in authorizer.roles_of(each) for each in IDS)
    assert authorizer.OPERATORS == authorizer.roles_of("ofTomorrow")


def test_a_worker_and_a_starter_may_do_what_the_page_says() -> None:
    of = {
        role: {each for each in IDS if role in authorizer.roles_of(each)} - {"getOpenApi"}
        for role in Role
    }

    worker = {"activateJobs", "claimJob", "completeJob", "failJob", "extendJobLock"}
    assert worker == of[Role.WORKER]
    starter = {"createProcessInstance", "publishMessage", "correlateMessage", "putMessage"}
    starter |= {"evaluateConditionals", "broadcastSignal"}
    assert starter == of[Role.STARTER]


def test_the_authorizer_is_the_only_one() -> None:
    asking = [m.path for m in modules("app.py", "chalicelib") if "compare_digest" in m.text]

    assert ["chalicelib/operations/api_keys.py"] == asking
    (doors,) = (m for m in modules("chalicelib") if m.path == "chalicelib/api/doors.py")
    assert "authorizer.register(app)" in doors.text
