"""Every route over HTTP, registered: all dialects, or those routes alone that hand jobs out."""

from __future__ import annotations

from chalicelib.api import authorizer, priostack, scheduler
from chalicelib.api.gateway import Gateway
from chalicelib.api.priostack import errors as priostack_errors
from chalicelib.api.scheduler import errors as scheduler_errors
from chalicelib.api.unserved import serve_the_rest
from chalicelib.api.zenbpm import errors as zenbpm_errors


def register(app: Gateway, *, only_hand_out: bool = False) -> None:
    """Register the routes, and what is asked before them and answers where there is none.

    Shapes: with `only_hand_out` none of the others is loaded, for a function that gets no request
        for them (`infra/hand_out.py`).
    """
    authorizer.register(app)
    if only_hand_out:
        _hand_out(app)
    else:
        _all(app)
    serve_the_rest(
        app,
        {
            "": zenbpm_errors.error,
            priostack.PREFIX: priostack_errors.error,
            scheduler.PREFIX: scheduler_errors.error,
        },
    )


def _all(app: Gateway) -> None:
    from chalicelib.api.priostack import routes as of_priostack  # noqa: PLC0415
    from chalicelib.api.scheduler import routes as of_scheduler  # noqa: PLC0415
    from chalicelib.api.zenbpm import routes as of_zenbpm  # noqa: PLC0415

    for dialect in (of_zenbpm, of_priostack, of_scheduler):
        dialect.register(app)


def _hand_out(app: Gateway) -> None:
    from chalicelib.api import zenbpm  # noqa: PLC0415
    from chalicelib.api.priostack import hand_out as of_priostack  # noqa: PLC0415
    from chalicelib.api.zenbpm import hand_out as of_zenbpm  # noqa: PLC0415

    app.register_blueprint(of_zenbpm.routes, url_prefix=zenbpm.PREFIX)
    app.register_blueprint(of_priostack.routes, url_prefix=priostack.PREFIX)
