import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { ApiServer } from '../support/api-server.ts'
import { MessageServer } from '../support/message-server.ts'
import { runningService } from '../support/running-service.ts'

const page = readFileSync('docs/web-events.md', 'utf8')
const [events = '', messages = ''] = [...page.matchAll(/```json\n(.*?)```/gs)].map(
  ([, text = '']) => text,
)
const [, sent = ''] = /```text\n(.*?)```/s.exec(page) ?? []
const [, told = ''] = /the service stores the reading\s+`([^`]+)`/.exec(page) ?? []

interface Definition {
  readonly type: string
  readonly schema: object | undefined
  readonly source: Readonly<Record<string, unknown>>
}

const answers = new Set<ServerResponse>()
const eventServer = await ApiServer.start(({ headers }, answer) => {
  answers.add(answer)
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  if (headers['last-event-id'] === undefined) answer.write(`${sent}\n`)
  else answer.write(':\n')
})
const messageServer = await MessageServer.start((socket) => {
  socket.on('message', (said: Buffer) => {
    const { op, after } = JSON.parse(said.toString()) as { op: string; after: number }
    if (op !== 'subscribe') return
    const at = `2026-03-01T08:00:0${after}Z`
    socket.send(JSON.stringify({ seq: after + 1, temperature: 71.5, at }))
    if (after === 0) socket.close(1001)
  })
})
const allowed = [eventServer, messageServer].map(({ port }) => `127.0.0.1:${port}`)
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: allowed.join(',') })

afterAll(async () => {
  await eventServer[Symbol.asyncDispose]()
  await messageServer[Symbol.asyncDispose]()
})

async function create(text: string, endpoint: string): Promise<string> {
  const { type, schema, source } = JSON.parse(text) as Definition
  // Types of events are a schema already.
  const definition = { type, schema, source: { ...source, endpoint } }
  return await service.api.createStream(undefined, definition)
}

describe('the examples of docs/web-events.md', () => {
  test('follow a server that sends events, from the last id on', async () => {
    const id = await create(events, `${eventServer.origin}/events?floor=2`)
    await service.api.settled(id, 1)
    const { at, ...fields } = JSON.parse(told) as { readonly at: string }
    expect(await service.api.readAll(id)).toMatchObject([fields])
    expect(at).toBe('2026-03-01T08:00:00Z')
    for (const answer of answers) answer.destroy()
    await expect.poll(() => eventServer.asked.length).toBe(2)
    expect(eventServer.asked[1]?.headers['last-event-id']).toBe('17')
    expect(await service.api.settled(id)).toMatchObject({ duplicates: 0, quarantined: 0 })
  })

  test('listen to a server of messages, from the last cursor on', async () => {
    const id = await create(messages, `ws://127.0.0.1:${messageServer.port}/feed`)
    await service.api.settled(id, 2)
    expect(await service.api.readAll(id)).toMatchObject([
      { seq: 1, temperature: 71.5 },
      { seq: 2, temperature: 71.5 },
    ])
    expect(messageServer.said).toEqual([
      '{"op":"auth","key":"..."}',
      '{"op":"subscribe","channel":"boiler-7","after":0}',
      '{"op":"auth","key":"..."}',
      '{"op":"subscribe","channel":"boiler-7","after":1}',
    ])
    expect(await service.api.settled(id)).toMatchObject({ duplicates: 0, quarantined: 0 })
  })
})
