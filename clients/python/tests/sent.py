"""Prints the methods of the client with their parameters, and for each call of a list the path and the parameters of the request, as JSON."""

import inspect
import json
import os
import sys

import bourse


class Sent(bourse.Bourse):
    def _whole(self, steps, _):
        request = next(steps)
        return [request.url.raw_path.decode().partition("?")[0], dict(request.url.params)]


with Sent("http://127.0.0.1:1", "key") as client:
    methods = {name: list(inspect.signature(getattr(client, name)).parameters) for name in vars(bourse.Bourse.__mro__[1]) if not name.startswith("_")}
    calls = json.loads(os.environ["BOURSE_CALLS"])
    json.dump({"methods": methods, "sent": [getattr(client, name)(**given) for name, given in calls]}, sys.stdout)
