"""The version tags of decisions: `versionTag` among a decision's extension elements.

They are no part of DMN, so no part of a model; known by the local name, as in BPMN files.
Source: contracts/zenbpm.md section 4.2.
"""

from __future__ import annotations

from chalicelib.feel.names import normalized


def version_tags(xml: bytes) -> dict[str, str]:
    """Return the tags of a file's decisions by the decisions' ids.

    Raises: NotXml; whoever asks has parsed the file before.
    """
    from chalicelib.xml_reader import read  # noqa: PLC0415 (it loads lxml)

    tags: dict[str, str] = {}
    for decision in read(xml).all("decision"):
        id_ = decision.get("id") or normalized(decision.get("name") or "")
        for container in decision.all("extensionElements"):
            for child in container.children:
                tag = child.get("value") if child.name == "versionTag" else None
                if tag is not None:
                    tags.setdefault(id_, tag)
    return tags
