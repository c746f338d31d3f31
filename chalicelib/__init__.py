"""Headrace: a BPMN workflow engine with no servers."""
