"""What makes a job of an element is read whole, and refused where it cannot make one."""

from __future__ import annotations

import json

import pytest

from chalicelib.bpmn.model import IoMapping, JobDefinition, Script, Value
from chalicelib.profile import Profile
from tests.bpmn.models import START, element, extended, flow, line, model, refusal_of

JOB_TAGS = ["serviceTask", "sendTask", "businessRuleTask", "scriptTask", "userTask"]


def job(tag: str, extensions: str, profile: Profile = Profile.ZENBPM) -> JobDefinition:
    found = element(line(extended(tag, extensions)), profile).job
    assert found is not None
    return found


@pytest.mark.parametrize("tag", JOB_TAGS)
def test_a_task_definition_makes_a_job(tag: str) -> None:
    definition = '<zeebe:taskDefinition type="pay" retries="3" retryBackoff="PT1S, PT1M"/>'

    assert JobDefinition(Value("pay"), Value("3"), Value("PT1S, PT1M")) == job(tag, definition)


@pytest.mark.parametrize("prefix", ["zeebe:", "zenbpm:", "undeclared:", ""])
def test_extension_elements_are_known_by_their_local_name(prefix: str) -> None:
    template = (
        '<_:taskDefinition type="pay"/><_:taskHeaders><_:header key="k" value="v"/>'
        '</_:taskHeaders><_:ioMapping><_:input source="=a" target="b"/></_:ioMapping>'
    )
    extensions = template.replace("_:", prefix)

    found = element(line(extended("serviceTask", extensions)))

    assert JobDefinition(Value("pay"), headers={"k": "v"}) == found.job
    assert (IoMapping(Value("a", is_feel=True), "b"),) == found.inputs


@pytest.mark.parametrize(
    "extensions",
    [
        '<zeebe:taskDefinition type="other"/><zenbpm:taskDefinition type="pay"/>',
        '<zenbpm:taskDefinition type="pay"/><zeebe:taskDefinition type="other"/>',
        '<zenbpm:taskDefinition type="pay"/><taskDefinition type="other"/>',
        '<zenbpm:taskDefinition type="pay"/><zenbpm:taskDefinition type="other"/>',
        '<z:taskDefinition xmlns:z="http://zenbpm.pbinitiative.org/1.0" type="pay"/>'
        '<zeebe:taskDefinition type="other"/>',
    ],
)
def test_zenbpms_own_element_wins_and_then_the_first(extensions: str) -> None:
    assert Value("pay") == job("serviceTask", extensions).type


@pytest.mark.parametrize(
    "type_",
    ["payment:charge", "io.camunda.zeebe:userTask", "größe/№ 1", "${x}", "a b", "'quoted'", "a=b"],
)
def test_a_job_type_may_be_of_any_characters(type_: str) -> None:
    assert Value(type_) == job("serviceTask", f'<zeebe:taskDefinition type="{type_}"/>').type


def test_a_job_type_may_be_feel() -> None:
    definition = '<zeebe:taskDefinition type="= &#34;pay-&#34; + method "/>'

    assert Value('"pay-" + method', is_feel=True) == job("serviceTask", definition).type


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask", "businessRuleTask"])
@pytest.mark.parametrize(
    "extensions", ["", "<zeebe:taskDefinition/>", '<taskDefinition type=" "/>']
)
def test_a_job_task_without_a_type_is_refused(tag: str, extensions: str) -> None:
    message = refusal_of(line(extended(tag, extensions)))

    assert message.startswith(f'{tag} "a" (line 1): expected a job type')


def test_a_job_type_that_no_key_could_hold_is_refused() -> None:
    definition = f'<zeebe:taskDefinition type="{"x" * 251}"/>'

    assert "expected at most 250 characters, found 251" in refusal_of(
        line(extended("serviceTask", definition))
    )


def test_a_user_task_without_a_type_is_a_job_of_the_profiles_own() -> None:
    assert Value("user-task-type") == job("userTask", "").type
    assert Value("user-task-type") == job("userTask", '<zeebe:taskDefinition type=""/>').type


def test_a_user_task_is_no_job_where_the_profile_has_people_claim_it() -> None:
    groups = '<zeebe:assignmentDefinition candidateGroups="=all"/>'
    found = element(line(extended("userTask", groups)), Profile.PRIOSTACK).job

    assert found is not None
    assert (True, Value("all", is_feel=True)) == (found.managed, found.candidate_groups)
    assert not job("userTask", groups).managed


def test_an_assignee_may_be_text_or_feel_or_missing() -> None:
    assignment = '<zeebe:assignmentDefinition assignee="{}"/>'

    assert Value("ann") == job("userTask", assignment.format("ann")).assignee
    assert Value("who", is_feel=True) == job("userTask", assignment.format("=who")).assignee
    assert job("userTask", assignment.format("")).assignee is None


# --- retries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("retries", ["0", "1", "007", "2147483647", " 3 "])
def test_literal_retries_are_a_whole_number(retries: str) -> None:
    definition = f'<zeebe:taskDefinition type="pay" retries="{retries}"/>'

    assert Value(retries.strip()) == job("serviceTask", definition).retries


def test_retries_may_be_missing_blank_or_feel() -> None:
    """R57, R58."""
    definition = '<zeebe:taskDefinition type="pay" {}/>'

    assert job("serviceTask", definition.format("")).retries is None
    assert job("serviceTask", definition.format('retries=" "')).retries is None
    assert Value("n + 1", is_feel=True) == (
        job("serviceTask", definition.format('retries="=n + 1"')).retries
    )


@pytest.mark.parametrize(
    "retries", ["-1", "abc", "1.5", "+3", "1e3", "${x}", "٣", "2147483648", "9" * 5_000]
)
def test_retries_that_are_no_number_are_refused(retries: str) -> None:
    """R60: the message names the element, its id and the attribute."""
    definition = f'<zeebe:taskDefinition type="pay" retries="{retries}"/>'

    message = refusal_of(line(extended("serviceTask", definition)))

    assert message.startswith(
        'serviceTask "a" (line 1): attribute retries of taskDefinition: '
        "expected a whole number from 0 to 2147483647"
    )
    assert len(message) < 300


@pytest.mark.parametrize("retries", ["0", "-1", "abc", "1.5", "", "=x"])
def test_priostack_wants_literal_retries_above_zero(retries: str) -> None:
    """P15, P16, P17."""
    definition = f'<zeebe:taskDefinition type="pay" retries="{retries}"/>'

    message = refusal_of(line(extended("serviceTask", definition)), Profile.PRIOSTACK)

    assert "expected a whole number from 1 to 2147483647, found" in message


def test_priostack_takes_retries_that_are_literal_or_missing() -> None:
    """P13, P14."""
    definition = '<zeebe:taskDefinition type="pay" {}/>'
    missing = job("serviceTask", definition.format(""), Profile.PRIOSTACK)
    seven = job("serviceTask", definition.format('retries="7"'), Profile.PRIOSTACK)

    assert (None, Value("7")) == (missing.retries, seven.retries)


@pytest.mark.parametrize("backoff", ["10 seconds", "PT1S,,PT2S", "P1M", "PT1.5S", "-PT1S", "PT1S,"])
def test_a_retry_backoff_that_does_not_parse_is_refused(backoff: str) -> None:
    """R64, R114."""
    definition = f'<zeebe:taskDefinition type="pay" retryBackoff="{backoff}"/>'

    message = refusal_of(line(extended("serviceTask", definition)))

    assert message.startswith(
        'serviceTask "a" (line 1): attribute retryBackoff of taskDefinition: expected an ISO 8601'
    )


# --- headers -----------------------------------------------------------------------------------


def test_linked_resources_are_told_in_a_header() -> None:
    links = (
        '<taskDefinition type="run"/><zeebe:linkedResources>'
        '<zeebe:linkedResource resourceId="robot" resourceType="RPA" linkName="script"/>'
        '<zeebe:linkedResource resourceId="more" bindingType="versionTag" versionTag="v1"/>'
        "<zeebe:linkedResource/></zeebe:linkedResources>"
        '<zeebe:taskHeaders><zeebe:header key="a" value="b"/></zeebe:taskHeaders>'
    )
    headers = job("serviceTask", links).headers

    assert ["a", "linkedResources"] == list(headers)
    assert [
        {"resourceId": "robot", "resourceType": "RPA", "linkName": "script"},
        {"resourceId": "more", "bindingType": "versionTag", "versionTag": "v1"},
    ] == json.loads(headers["linkedResources"])


def test_headers_are_static_and_kept_in_order() -> None:
    """R149: never evaluated, and the same in either namespace."""
    headers = (
        '<taskDefinition type="pay"/><zenbpm:taskHeaders><zenbpm:header id="1" key="b" value="=x"/>'
        '<zenbpm:header key="a"/><zenbpm:header value="lost"/></zenbpm:taskHeaders>'
    )

    assert [("b", "=x"), ("a", "")] == list(job("serviceTask", headers).headers.items())


# --- scripts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["=1 + x", "1 + x", " = 1 + x "])
def test_a_script_is_feel_with_a_leading_equals_sign_or_without(text: str) -> None:
    script = f'<zeebe:script expression="{text}" resultVariable="sum"/>'

    assert Script("1 + x", "sum") == element(line(extended("scriptTask", script))).script


@pytest.mark.parametrize(
    ("extensions", "problem"),
    [
        ("", "expected a script (FEEL) or a taskDefinition (a job), found neither"),
        (
            '<zeebe:script expression="=1" resultVariable="x"/><zeebe:taskDefinition type="t"/>',
            "found both",
        ),
        ('<zeebe:script expression="=1"/>', "expected an attribute resultVariable, found none"),
        ('<zeebe:script resultVariable="x"/>', "expected a FEEL expression, found nothing"),
        ('<zeebe:script expression="=1 +" resultVariable="x"/>', "is no FEEL expression, line 1"),
    ],
)
def test_a_script_task_that_says_not_what_to_do_is_refused(extensions: str, problem: str) -> None:
    message = refusal_of(line(extended("scriptTask", extensions)))

    assert message.startswith('scriptTask "a" (line 1)')
    assert problem in message


# --- mappings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tag", [*JOB_TAGS[:3], "userTask", "task", "manualTask", "endEvent", "intermediateThrowEvent"]
)
def test_mappings_are_read_in_order_on_activities_and_events(tag: str) -> None:
    mappings = (
        '<taskDefinition type="t"/><ioMapping><input source="=x + 1" target="a.b"/>'
        '<output source="=y" target="c"/><input source="text" target="d"/><input target="e"/>'
        '<input source="" target="f"/></ioMapping>'
    )
    found = element(model(START + extended(tag, mappings) + flow("start", "a")))

    assert (
        IoMapping(Value("x + 1", is_feel=True), "a.b"),
        IoMapping(Value("text"), "d"),
        IoMapping(Value(""), "e"),
        IoMapping(Value(""), "f"),
    ) == found.inputs
    assert (IoMapping(Value("y", is_feel=True), "c"),) == found.outputs


def test_a_mapping_without_a_source_maps_an_empty_text_or_null_by_profile() -> None:
    xml = line(extended("task", '<ioMapping><output target="t"/></ioMapping>'))

    assert (IoMapping(Value(""), "t"),) == element(xml, Profile.ZENBPM).outputs
    assert (IoMapping(None, "t"),) == element(xml, Profile.PRIOSTACK).outputs


@pytest.mark.parametrize("target", ["", ".", "a..b", "a.", "=x", " . "])
def test_a_mapping_needs_names_for_a_target(target: str) -> None:
    mapping = f'<ioMapping><output source="=x" target="{target}"/></ioMapping>'

    message = refusal_of(line(extended("task", mapping)))

    assert message.startswith('task "a" (line 1): attribute target of output: expected names')


@pytest.mark.parametrize("source", ["=", "=1 +", "=(", "=x y z", "=" + "(" * 5_000])
def test_a_mapping_whose_source_is_no_feel_is_refused(source: str) -> None:
    mapping = f'<ioMapping><input source="{source}" target="t"/></ioMapping>'

    message = refusal_of(line(extended("task", mapping)))

    assert message.startswith('task "a" (line 1): attribute source of input: ')
    assert len(message) < 400
