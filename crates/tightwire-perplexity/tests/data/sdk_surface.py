"""Prints the methods, parameters and types of the installed Python SDK `perplexityai` as JSON.

usage: sdk_surface.py > perplexity-sdk.json

A field or parameter is a list of what its type refers to, whatever the containers: names of models, and strings that the
SDK allows, in single quotes. Numbers, booleans, free text and untyped values are left out.
"""

import inspect
import json
import re
import typing
from importlib.metadata import version

from perplexity import Perplexity
from perplexity.generated import api

OPTIONS = {"self", "extra_headers", "extra_query", "extra_body", "timeout"}
NAMES = vars(api)
models = {}


def hints(of):
    return typing.get_type_hints(of, NAMES)


def name(model):
    """Every model has a class for requests and one for responses, with the same fields."""
    return re.sub("(Input|Output)$", "", model.__name__)


def refers_to(kind):
    if isinstance(kind, type) and issubclass(kind, api.BaseModel):
        add(kind)
        return {name(kind)}
    if typing.get_origin(kind) is typing.Literal:
        return {f"'{value}'" for value in typing.get_args(kind) if isinstance(value, str)}
    arguments = [kind for kind in typing.get_args(kind) if not isinstance(kind, (list, str))]
    return set().union(*map(refers_to, arguments))


def add(model):
    fields = models.get(name(model))
    if fields is None:
        fields = models[name(model)] = {}
        for field, kind in hints(model).items():
            info = model.model_fields.get(field)
            if field != "model_config" and typing.get_origin(kind) is not typing.ClassVar:
                fields[info and info.alias or field] = sorted(refers_to(kind))


def method(function):
    source = inspect.getsource(function)
    verb, path = re.search(r"self\._(get|post|put|delete)\(\s*\"([^\"]+)\"", source).groups()
    kinds = hints(function)
    returned = kinds.pop("return")
    returned = typing.get_args(returned) if typing.get_origin(returned) is typing.Union else (returned,)
    events = [kind for kind in returned if typing.get_origin(kind) is api.Stream]
    result = [kind for kind in returned if kind not in events]
    return {
        "http": f"{verb.upper()} {path}",
        "parameters": {
            parameter: sorted(refers_to(kinds[parameter]))
            for parameter in inspect.signature(function).parameters
            if parameter not in OPTIONS
        },
        "events": sorted(set().union(*map(refers_to, events))),
        "result": sorted(set().union(*map(refers_to, result))),
    }


def methods(resource, path):
    for attribute, value in sorted(vars(type(resource)).items()):
        if attribute.startswith(("_", "with_")):
            continue
        if inspect.isfunction(value):
            yield f"{path}{attribute}", method(value)
        elif isinstance(getattr(resource, attribute), api.SyncAPIResource):
            yield from methods(getattr(resource, attribute), f"{path}{attribute}.")


client = Perplexity(api_key="none")
found = {}
for attribute in sorted(dir(type(client))):
    if not attribute.startswith(("_", "with_")) and isinstance(getattr(client, attribute), api.SyncAPIResource):
        found.update(methods(getattr(client, attribute), f"{attribute}."))


def lines(entries):
    return ",\n".join(f"    {json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries))


print(f'{{\n  "version": "{version("perplexityai")}",')
print(f'  "methods": {{\n{lines(found)}\n  }},')
print(f'  "models": {{\n{lines(models)}\n  }}\n}}')
