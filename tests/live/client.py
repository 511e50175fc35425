#!/usr/bin/env python3
"""One conversation of an official MCP client for Python with a stdio server: a plan comes in, a record goes out (JSON).

  client.py session|legacy|auto <plan >record

`session` is the ClientSession of the 1.x line; `legacy` and `auto` are modes of the Client of the 2.x line.
The plan: {"command": argv, "env": {}, "steps": [...]}, a step being one of
  {"tool", "args", "all": true}   a call; with "all", further pages are read and their rows joined; where these come by
                                  checkpoint, the record tells under "later" what one more call says
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


async def step(client, s):
    if "get" in s:
        return json.loads(await asyncio.to_thread(lambda: urllib.request.urlopen(s["get"], timeout=30).read()))
    if "tools" in s:
        return [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in (await client.list_tools()).tools]
    out = read(await client.call_tool(s["tool"], s["args"]))
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
    server = StdioServerParameters(command=plan["command"][0], args=plan["command"][1:], env=plan["env"])
    if mode == "session":
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client
        async with stdio_client(server) as pipes, ClientSession(*pipes) as client:
            hello = await client.initialize()
            record.update(revision=hello.protocolVersion, server=hello.serverInfo.name, instructions=hello.instructions)
            for s in plan["steps"]:
                record["steps"].append(await step(client, s))
    else:
        from mcp import Client
        async with Client(server, mode=mode) as client:
            info = client.server_info
            record.update(revision=client.protocol_version, server=info and info.name, instructions=client.instructions)
            for s in plan["steps"]:
                record["steps"].append(await step(client, s))


record = {"steps": []}
try:
    asyncio.run(converse(sys.argv[1], json.load(sys.stdin), record))
except BaseException:
    record["exception"] = traceback.format_exc()
json.dump(record, sys.stdout)
