#!/usr/bin/env python3
"""One conversation of an official MCP client for Python with a stdio server: a plan comes in, a record goes out (JSON).

  client.py session|legacy|auto <plan >record

`session` is the ClientSession of the 1.x line; `legacy` and `auto` are modes of the Client of the 2.x line.
The plan: {"command": argv, "env": {}, "steps": [...]}, a step being one of
  {"tool", "args", "all": true}   a call; with "all", further pages are read and their rows joined; where these come by
                                  checkpoint, the record tells under "later" what one more call says
  {"tool", "args", "use": {}}     a call with parts of earlier answers: "use" has, by the path of a member of "args", the number of
                                  a step and the path of a member of its answer ("a/b/c")
  {"answer"}                      how every confirmation is answered from here on (an elicitation result); the record tells what was
                                  asked since the last such step. A plan without such a step has a client that cannot be asked
  {"tools": true}                 tools/list
  {"get": url}                    a plain HTTP GET that answers JSON (the proxy's counters and faults)
An exception of the client, such as an answer that breaks the output schema, ends the conversation and is the record.
"""
import asyncio
import json
import sys
import traceback
import urllib.request

from mcp import StdioServerParameters


def member(result, *names):
    """a member by its name in any version of the client: attributes were renamed, and the first ones did not know all"""
    for name in names:
        if getattr(result, name, None) is not None:
            return getattr(result, name)
    return next((result.model_extra[n] for n in names if n in (result.model_extra or {})), None)


def read(result):
    text = "".join(c.text for c in result.content if c.type == "text")
    structured = member(result, "structured_content", "structuredContent")
    mirrored = json.loads(text) == structured
    return {"error": bool(member(result, "is_error", "isError")), "content": structured, "mirrored": mirrored}


asked, answer = [], {}


async def confirm(_context, params):
    from mcp import types
    asked.append(params.message)
    return types.ElicitResult(**answer)


def filled(s, done):
    """the arguments of a step, with what they take from earlier answers"""
    args = json.loads(json.dumps(s["args"]))
    for path, (number, source) in s.get("use", {}).items():
        value = done[number]["content"]
        for name in source.split("/"):
            value = value[int(name) if isinstance(value, list) else name]
        *above, last = path.split("/")
        place = args
        for name in above:
            place = place[name]
        place[last] = value
    return args


async def step(client, s, done):
    if "answer" in s:
        answer.clear()
        answer.update(s["answer"])
        before = asked[:]
        asked.clear()
        return before
    if "get" in s:
        return json.loads(await asyncio.to_thread(lambda: urllib.request.urlopen(s["get"], timeout=30).read()))
    if "tools" in s:
        return [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in (await client.list_tools()).tools]
    out = read(await client.call_tool(s["tool"], filled(s, done)))
    while s.get("all") and not out["error"] and (args := further(out["content"])):
        page = read(await client.call_tool(s["tool"], {**args, "pageSize": s["args"]["pageSize"]}))
        out["mirrored"] = out["mirrored"] and page["mirrored"]
        if page["error"]:
            out.update(error=True, content=page["content"])
        else:
            rows = "items" if "items" in page["content"] else "changes"
            out["content"] = {**page["content"], rows: out["content"][rows] + page["content"][rows]}
    if s.get("all") and not out["error"] and "checkpoint" in out["content"]:
        out["later"] = read(await client.call_tool(s["tool"], {"checkpoint": out["content"]["checkpoint"]}))
    return out


def further(content):
    """the arguments of the next page"""
    if content.get("hasMore"):
        return {"checkpoint": content["checkpoint"]}
    cursor = content.get("pagination", {}).get("nextCursor")
    return cursor and {"cursor": cursor}


async def converse(mode, plan, record):
    asking = {"elicitation_callback": confirm} if any("answer" in s for s in plan["steps"]) else {}
    server = StdioServerParameters(command=plan["command"][0], args=plan["command"][1:], env=plan["env"])
    if mode == "session":
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client
        async with stdio_client(server) as pipes, ClientSession(*pipes, **asking) as client:
            hello = await client.initialize()
            record.update(revision=hello.protocolVersion, server=hello.serverInfo.name, instructions=hello.instructions)
            for s in plan["steps"]:
                record["steps"].append(await step(client, s, record["steps"]))
    else:
        from mcp import Client
        async with Client(server, mode=mode, **asking) as client:
            info = client.server_info
            record.update(revision=client.protocol_version, server=info and info.name, instructions=client.instructions)
            for s in plan["steps"]:
                record["steps"].append(await step(client, s, record["steps"]))


record = {"steps": []}
try:
    asyncio.run(converse(sys.argv[1], json.load(sys.stdin), record))
except BaseException:
    record["exception"] = traceback.format_exc()
json.dump(record, sys.stdout)
