"""The history's words for kinds of elements (contracts/zenbpm.md 1.2)."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bpmn.model import Kind

SEQUENCE_FLOW = "SEQUENCE_FLOW"

# A send task is a service task there; script, manual and undefined tasks, which ZenBPM does not
# run, have words of the same make.
ELEMENT_TYPES: Mapping[Kind, str] = {
    Kind.START_EVENT: "START_EVENT",
    Kind.END_EVENT: "END_EVENT",
    Kind.INTERMEDIATE_CATCH_EVENT: "INTERMEDIATE_CATCH_EVENT",
    Kind.INTERMEDIATE_THROW_EVENT: "INTERMEDIATE_THROW_EVENT",
    Kind.BOUNDARY_EVENT: "BOUNDARY_EVENT",
    Kind.TASK: "TASK",
    Kind.MANUAL_TASK: "MANUAL_TASK",
    Kind.SERVICE_TASK: "SERVICE_TASK",
    Kind.SEND_TASK: "SERVICE_TASK",
    Kind.USER_TASK: "USER_TASK",
    Kind.RECEIVE_TASK: "RECEIVE_TASK",
    Kind.SCRIPT_TASK: "SCRIPT_TASK",
    Kind.BUSINESS_RULE_TASK: "BUSINESS_RULE_TASK",
    Kind.SUB_PROCESS: "SUB_PROCESS",
    Kind.CALL_ACTIVITY: "CALL_ACTIVITY",
    Kind.TRANSACTION: "SUB_PROCESS",
    Kind.AD_HOC_SUB_PROCESS: "AD_HOC_SUB_PROCESS",
    Kind.AD_HOC_ACTIVATION: "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    Kind.REOPENED: "SUB_PROCESS",
    Kind.EXCLUSIVE_GATEWAY: "EXCLUSIVE_GATEWAY",
    Kind.PARALLEL_GATEWAY: "PARALLEL_GATEWAY",
    Kind.INCLUSIVE_GATEWAY: "INCLUSIVE_GATEWAY",
    Kind.COMPLEX_GATEWAY: "COMPLEX_GATEWAY",
    Kind.EVENT_BASED_GATEWAY: "EVENT_BASED_GATEWAY",
    Kind.PROCESS: "PROCESS",
}
