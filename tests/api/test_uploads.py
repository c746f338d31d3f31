"""A deployment's file comes in any media type that a client of any age sends."""

from __future__ import annotations

import pytest
from chalice.app import Request

from chalicelib.api.http import NotServed
from chalicelib.api.xml_text import as_text
from chalicelib.api.zenbpm import uploads
from chalicelib.errors import Rejected
from chalicelib.ports import Ports

XML = b'<?xml version="1.0"?>\r\n<a>\r\n--X not a boundary\n</a>\r\n'
FORM = 'multipart/form-data; boundary="X y"'


def request(body: bytes, content_type: str | None) -> Request:
    return Request(
        {
            "multiValueQueryStringParameters": None,
            "headers": {"content-type": content_type} if content_type else {},
            "pathParameters": None,
            "requestContext": {"httpMethod": "POST", "resourcePath": "/"},
            "body": body,
            "stageVariables": None,
        }
    )


def form(*parts: tuple[bytes, bytes], boundary: bytes = b"X y") -> bytes:
    pieces = (
        b"--" + boundary + b"\r\n" + head + b"\r\n\r\n" + body + b"\r\n" for head, body in parts
    )
    return b"".join(pieces) + b"--" + boundary + b"--\r\n"


@pytest.mark.parametrize(
    "media_type", ["application/octet-stream", "application/xml; charset=utf-8", "text/xml"]
)
def test_a_raw_body_is_the_file(ports: Ports, media_type: str) -> None:
    assert XML == uploads.uploaded(request(XML, media_type))


def test_the_part_named_resource_is_the_file(ports: Ports) -> None:
    body = form(
        (b'Content-Disposition: form-data; name="other"', b"no"),
        (
            b'content-disposition: form-data; name="resource"; filename="\xc3\xa4.bpmn"\r\n'
            b"Content-Type: application/octet-stream",
            XML,
        ),
    )

    assert XML == uploads.uploaded(request(body, FORM))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/xml"),
        (b" \n", "application/octet-stream"),
        (b"", FORM),
        (b"no form at all", FORM),
        (form((b'Content-Disposition: form-data; name="file"', XML)), FORM),
        (form((b'Content-Disposition: form-data; name="resource"', b"")), FORM),
        (form((b"", XML)), FORM),
        (form(*[(b'Content-Disposition: form-data; name="resource"', XML)] * 2), FORM),
        (form((b'Content-Disposition: form-data; name="resource"', XML)), "multipart/form-data"),
        (b"\r\n--" * 10_000, "multipart/form-data; boundary="),
    ],
)
def test_a_body_without_a_file_is_refused(ports: Ports, body: bytes, content_type: str) -> None:
    with pytest.raises(Rejected, match="request body has an error"):
        uploads.uploaded(request(body, content_type))


@pytest.mark.parametrize("media_type", [None, "application/json", "text/plain"])
def test_another_media_type_is_not_served(ports: Ports, media_type: str | None) -> None:
    with pytest.raises(NotServed) as refused:
        uploads.uploaded(request(XML, media_type))

    assert 415 == refused.value.status


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("<a>ä</a>".encode(), "<a>ä</a>"),
        ("<a>ä</a>".encode("utf-8-sig"), "<a>ä</a>"),
        ("<a>ä</a>".encode("utf-16"), "<a>ä</a>"),
        (
            '<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>'.encode("latin-1"),
            '<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>',
        ),
        (
            b'<?xml version="1.0" encoding="nonsense"?><a/>',
            '<?xml version="1.0" encoding="nonsense"?><a/>',
        ),
    ],
)
def test_a_file_is_shown_in_the_encoding_it_has(xml: bytes, expected: str) -> None:
    assert expected == as_text(xml)
