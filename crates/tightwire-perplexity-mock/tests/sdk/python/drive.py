"""Calls every resource of the official Python SDK against a server with the default scenario and chat completions, and
against one without.

usage: drive.py URL URL

Ends with a line "N passed, N failed", and with a status other than 0 where something failed.
"""

import asyncio
import base64
import json
import sys
import traceback

import perplexity
from perplexity import AsyncPerplexity, Perplexity

URL, URL_WITHOUT_CHAT = sys.argv[1:3]
MESSAGES = [{"role": "user", "content": "Hello there"}]
SAID = "You said: Hello there"

client = Perplexity(api_key="test-key", base_url=URL, max_retries=2)
checks = []


def check(function):
    checks.append(function)
    return function


def case(name):
    """The header that asks for a case of the default scenario."""
    return {"x-mock-case": name}


def chat(using=None, **members):
    using = using or client
    return using.chat.completions.create(**{"model": "sonar", "messages": MESSAGES, **members})


def raises(kind, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind, f"{type(error)} in place of {kind}"
        return error
    raise AssertionError(f"no {kind.__name__}")


@check
def chat_create():
    completion = chat()
    assert completion.choices[0].message.content == SAID
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    assert completion.usage.cost.request_cost == 0.005
    assert completion.citations == [result.url for result in completion.search_results]


@check
def chat_structured_output():
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    completion = chat(response_format={"type": "json_schema", "json_schema": {"schema": schema}})
    assert json.loads(completion.choices[0].message.content) == {"name": "text", "age": 1}


@check
def chat_tools():
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    function = {"name": "weather", "description": "d", "parameters": parameters}
    completion = chat(tools=[{"type": "function", "function": function}], tool_choice="required")
    call = completion.choices[0].message.tool_calls[0]
    assert call.function.name == "weather" and json.loads(call.function.arguments) == {"city": "text"}


@check
def chat_stream():
    chunks = list(chat(stream=True))
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == SAID
    assert [chunk.choices[0].message.content for chunk in chunks][-1] == SAID
    assert chunks[-1].choices[0].finish_reason == "stop" and chunks[-1].usage.cost.total_cost > 0
    assert chunks[0].usage is None


@check
def chat_stream_concise():
    kinds = [chunk.object for chunk in chat(stream=True, stream_mode="concise")]
    assert kinds[:2] == ["chat.reasoning", "chat.reasoning.done"] and kinds[-1] == "chat.completion.done"
    assert set(kinds[2:-1]) == {"chat.completion.chunk"}


@check
def async_chat():
    jobs = client.async_.chat.completions
    job = jobs.create(request={"model": "sonar-deep-research", "messages": MESSAGES}, idempotency_key="python-1")
    assert job.status == "CREATED"
    again = jobs.create(request={"model": "sonar-deep-research", "messages": MESSAGES}, idempotency_key="python-1")
    assert again.id == job.id
    assert job.id in [one.id for one in jobs.list().requests]
    assert jobs.get(job.id).status == "IN_PROGRESS"
    done = jobs.get(job.id, local_mode=True)
    assert done.status == "COMPLETED" and done.completed_at >= done.started_at
    assert done.response.choices[0].message.content == SAID


@check
def search():
    found = client.search.create(query="rust", max_results=2, display_server_time=True)
    assert len(found.results) == 2 and found.results[0].url.startswith("https://") and found.server_time
    assert len(client.search.create(query=["a", "b"]).results) == 6


@check
def responses_create():
    response = client.responses.create(model="openai/gpt-5", input="Hello there")
    assert response.status == "completed" and response.output_text == SAID
    assert response.output[0].type == "search_results" and response.output[0].results[0].id == 1
    assert response.usage.tool_calls_details["search_web"].invocation == 1
    later = client.responses.create(
        models=["openai/gpt-5", "perplexity/sonar"],
        previous_response_id=response.id,
        input=[{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Again"}]}],
    )
    assert later.output_text == "You said: Again" and later.previous_response_id == response.id
    assert client.responses.retrieve(response.id, format="short").output_text == SAID


@check
def responses_function():
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
    response = client.responses.create(model="openai/gpt-5", input="x", tools=[tool], tool_choice="required")
    assert response.status == "requires_action" and response.output[0].name == "f"


@check
def responses_incomplete():
    members = {"model": "perplexity/sonar", "input": "one two three", "max_output_tokens": 4}
    response = client.responses.create(**members)
    assert response.status == "incomplete" and response.output_text == "You said: one two"
    last = list(client.responses.create(**members, stream=True))[-1]
    assert last.type == "response.incomplete" and last.response.output_text == "You said: one two"


@check
def responses_errors():
    ask = lambda **members: client.responses.create(model="perplexity/sonar", input="x", **members)
    error = raises(perplexity.BadRequestError, lambda: ask(extra_body={"search_mode": "academic"}))
    assert error.body["error"]["param"] == "search_mode"
    raises(perplexity.NotFoundError, lambda: client.responses.retrieve("resp_none"))
    for name, kind in [("401", perplexity.AuthenticationError), ("429", perplexity.RateLimitError)]:
        raises(kind, lambda: ask(extra_headers=case(name)))
    for stream in [False, True]:
        raises(perplexity.InternalServerError, lambda: ask(stream=stream, extra_headers=case("502")))
    without = Perplexity(api_key="test-key", base_url=URL_WITHOUT_CHAT)
    error = raises(perplexity.PermissionDeniedError, lambda: chat(without))
    assert error.body["error"]["type"] == "chat_completions_not_available"


@check
def responses_stream():
    skills = [{"type": "builtin", "name": "office/docx"}]
    events = list(client.responses.create(model="openai/gpt-5", input="Hello there", stream=True, skills=skills))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert "response.skill.loaded" in kinds and "response.reasoning.search_queries" in kinds
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == SAID and events[-1].response.output_text == SAID
    rest = list(client.responses.retrieve(events[-1].response.id, stream=True, starting_after=3))
    assert [event.sequence_number for event in rest] == list(range(4, len(events)))


@check
def responses_background():
    first = client.responses.create(model="openai/gpt-5", input="Hello there", background=True)
    assert first.status == "queued" and first.output == []
    statuses = [client.responses.retrieve(first.id).status for _ in range(2)]
    assert statuses == ["in_progress", "completed"]
    raises(perplexity.BadRequestError, lambda: client.responses.cancel(first.id))
    second = client.responses.create(model="openai/gpt-5", input="x", background=True)
    assert client.responses.cancel(second.id).status == "cancelling"
    assert client.responses.retrieve(second.id).status == "cancelled"


@check
def responses_files():
    response = client.responses.create(model="openai/gpt-5", input="Hello there")
    file = client.responses.files.list(response.id).data[0]
    assert file.bytes == len(SAID)
    assert client.responses.files.content(file.id, response_id=response.id).read() == SAID.encode()


@check
def embeddings():
    answer = client.embeddings.create(model="pplx-embed-v1-0.6b", input=["a", "b"], dimensions=128)
    vectors = [base64.b64decode(item.embedding) for item in answer.data]
    assert [len(vector) for vector in vectors] == [128, 128] and vectors[0] != vectors[1]
    answer = client.embeddings.create(model="pplx-embed-v1-4b", input="a", encoding_format="base64_binary")
    assert len(base64.b64decode(answer.data[0].embedding)) == 2560 // 8


@check
def contextualized_embeddings():
    answer = client.contextualized_embeddings.create(
        model="pplx-embed-context-v1-0.6b", input=[["a", "b"], ["c"]], dimensions=128
    )
    assert [len(document.data) for document in answer.data] == [2, 1]


@check
def browser_sessions():
    session = client.browser.sessions.create()
    assert session.status == "running"
    assert client.browser.sessions.delete(session.session_id) is None
    raises(perplexity.NotFoundError, lambda: client.browser.sessions.delete(session.session_id))


@check
def models():
    listed = client.models.list()
    assert "perplexity/sonar" in [model.id for model in listed.data]


def upload(content=b'{"custom_id":"1","body":{"input":"Hello there"}}\n'):
    return client.files.create(file=("requests.jsonl", content), purpose="batch")


@check
def files():
    one, two = upload(), upload(b"{}\n{}\n")
    assert one.filename == "requests.jsonl" and two.bytes == 6
    page = client.files.list(limit=1, order="desc")
    assert [file.id for file in page.data] == [two.id] and page.has_more
    page = client.files.list(limit=1, after=page.last_id, purpose="batch")
    assert [file.id for file in page.data] == [one.id]
    assert client.files.retrieve(two.id).id == two.id
    assert client.files.content(two.id).read() == b"{}\n{}\n"
    assert client.files.delete(two.id).deleted
    raises(perplexity.NotFoundError, lambda: client.files.retrieve(two.id))


@check
def batches():
    make = lambda: client.batches.create(
        endpoint="/v1/responses", input_file_id=file.id, metadata={"a": "b"}, idempotency_key="python-2"
    )
    file = upload()
    batch = make()
    assert batch.status == "validating" and batch.metadata == {"a": "b"} and batch.request_counts.total == 1
    assert make().id == batch.id
    assert batch.id in [one.id for one in client.batches.list(limit=5).data]
    statuses = [client.batches.retrieve(batch.id).status for _ in range(3)]
    assert statuses == ["in_progress", "finalizing", "completed"]
    output = client.files.content(client.batches.retrieve(batch.id).output_file_id).read()
    assert json.loads(output)["response"]["body"]["output_text"] == SAID
    other = client.batches.create(endpoint="/v1/responses", input_file_id=file.id)
    assert client.batches.cancel(other.id).status == "cancelling"
    assert client.batches.retrieve(other.id).status == "cancelled"


@check
def decisions():
    answers = client.decisions.create(
        model="m",
        state="s",
        questions={
            "a": {"type": "noul", "instructions": "x"},
            "b": {"type": "choice", "criteria": {"x": "1", "y": None}},
            "c": {"type": "score", "criteria": ["bad", "good"]},
        },
    ).answers
    assert answers["a"].noul == 0.9
    assert answers["b"].choice == "x" and sum(answers["b"].probabilities.values()) == 1
    assert answers["c"].legend == {"0": "bad", "1": "good"}


@check
def skills():
    skill = client.skills.create(file=("tables.zip", b"PK"))
    assert skill.name == "tables" and skill.revision == "r1"
    newer = client.skills.update(skill.skill_id, expected_revision="r1", file=("sheets.zip", b"PK"))
    assert newer.latest_revision == "r2"
    once = client.with_options(max_retries=0)
    raises(perplexity.ConflictError, lambda: once.skills.delete(skill.skill_id, expected_revision="r1"))
    assert client.skills.retrieve(skill.skill_id).name == "sheets"
    assert skill.skill_id in [one.skill_id for one in client.skills.list(limit=100).skills]
    assert [one.revision for one in client.skills.revisions.list(skill.skill_id).revisions] == ["r2"]
    assert client.skills.download(skill.skill_id).revision == "r2"
    assert client.skills.delete(skill.skill_id, expected_revision="r2") is None


@check
def refusals_of_the_api():
    assert raises(perplexity.BadRequestError, lambda: chat(model="x")).body["error"]["code"] == 400
    error = raises(
        perplexity.UnprocessableEntityError, lambda: client.post("/chat/completions", cast_to=object, body={})
    )
    assert error.body["detail"][0]["loc"] == ["body", "model"]
    raises(perplexity.NotFoundError, lambda: client.get("/nothing", cast_to=object))
    nobody = {"extra_headers": {"Authorization": "Basic x"}}
    assert "401 Authorization Required" in raises(perplexity.AuthenticationError, lambda: chat(**nobody)).message


@check
def error_bodies():
    for name, kind in [
        ("400", perplexity.BadRequestError),
        ("400-flat", perplexity.BadRequestError),
        ("400-string", perplexity.BadRequestError),
        ("401", perplexity.AuthenticationError),
        ("403", perplexity.PermissionDeniedError),
        ("404", perplexity.NotFoundError),
        ("409", perplexity.ConflictError),
        ("422", perplexity.UnprocessableEntityError),
        ("422-index", perplexity.UnprocessableEntityError),
        ("429", perplexity.RateLimitError),
        ("500", perplexity.InternalServerError),
        ("500-empty", perplexity.InternalServerError),
        ("502", perplexity.InternalServerError),
        ("418", perplexity.APIStatusError),
    ]:
        error = raises(kind, lambda: chat(extra_headers=case(name)))
        assert error.status_code == int(name[:3])


@check
def retries():
    for name in ["rate-limited", "overloaded", "should-retry", "reset-once"]:
        raw = client.chat.completions.with_raw_response.create(
            model="sonar", messages=MESSAGES, extra_headers=case(name)
        )
        assert raw.retries_taken == (2 if name in ("rate-limited", "overloaded") else 1), name
        assert raw.parse().choices[0].message.content == SAID
        assert raw.headers["x-request-id"].startswith("req-")


@check
def faults_of_the_connection():
    once = client.with_options(max_retries=0)
    for name in ["reset-before-head", "close-before-head"]:
        raises(perplexity.APIConnectionError, lambda: chat(once, extra_headers=case(name)))
    hurried = client.with_options(max_retries=0, timeout=0.2)
    raises(perplexity.APITimeoutError, lambda: chat(hurried, extra_headers=case("stalled-head")))
    for name in ["reset-mid-body", "close-mid-body", "length-too-long", "length-too-short", "bad-json"]:
        try:
            chat(once, extra_headers=case(name))
        except Exception:
            continue
        raise AssertionError(f"{name} went well")
    assert chat(once, extra_headers=case("slow-head")).choices[0].message.content == SAID
    assert chat(once, extra_headers=case("slow-body")).choices[0].message.content == SAID
    assert chat(once, extra_headers=case("redirect")).choices[0].message.content == SAID


@check
def peculiar_streams():
    for name, expected in [
        ("stream-ids", 2),
        ("stream-comment", 2),
        ("stream-no-done", 3),
        ("stream-after-done", 3),
        ("stream-named", 2),
        ("stream-no-role", 2),
        ("stream-crlf", 1),
        ("stream-error-data", 2),
    ]:
        assert len(list(chat(stream=True, extra_headers=case(name)))) == expected, name
    for name in ["stream-error", "stream-bad-json", "stream-ping", "stream-reset"]:
        try:
            list(chat(stream=True, extra_headers=case(name)))
        except Exception:
            continue
        raise AssertionError(f"{name} went well")


@check
def asynchronous_client():
    async def run():
        async with AsyncPerplexity(api_key="test-key", base_url=URL) as using:
            response = await using.responses.create(model="perplexity/sonar", input="Hello there")
            assert response.output_text == SAID
            members = {"model": "sonar", "messages": MESSAGES}
            completion = await using.chat.completions.create(**members)
            assert completion.choices[0].message.content == SAID
            stream = await using.chat.completions.create(**members, stream=True)
            assert "".join([chunk.choices[0].delta.content async for chunk in stream]) == SAID
            answers = await asyncio.gather(
                *(
                    using.chat.completions.create(model="sonar", messages=[{"role": "user", "content": str(number)}])
                    for number in range(20)
                )
            )
            texts = [answer.choices[0].message.content for answer in answers]
            assert texts == [f"You said: {number}" for number in range(20)]

    asyncio.run(run())


def main():
    failed = 0
    for function in checks:
        try:
            function()
        except Exception:
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=-3, file=sys.stdout)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
