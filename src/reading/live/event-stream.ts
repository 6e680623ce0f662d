import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { hearNothing } from '../../requests/http/upgrades.ts'
import type { OpenTail } from './open-tails.ts'
import type { TailEvent } from './tail.ts'
import type { Transport } from './tail-transport.ts'

/** After the connection has broken, clients come back this much later. */
const retryMs = 2_000

/** Time for a client to read why its tail has ended. */
const farewellMs = 1_000

/**
 * A tail as Server-Sent Events (WHATWG HTML, section 9.2). The id of an event is the position after it,
 * which clients send back as Last-Event-ID. Its place is given back by `openOn`.
 */
export function eventStream(reply: FastifyReply, tail: OpenTail, position: string): Transport {
  const stream = new PassThrough()
  stream.on('error', () => tail.release())
  hearNothing(reply.request)
  void reply
    .type('text/event-stream; charset=utf-8')
    // Some proxies collect answers before they pass them on.
    .header('x-accel-buffering', 'no')
    .send(stream)
  const say = async (text: string) => {
    if (!stream.write(text)) await once(stream, 'drain')
  }
  stream.write(`retry: ${retryMs}\n${positionText(position)}`)
  return {
    events: (events) => say(events.map(eventText).join('')),
    heartbeat: (at) => say(`: still here\n${positionText(at)}`),
    async end(end) {
      const { code: error, message, remedy } = end
      stream.end(`event: end\ndata: ${JSON.stringify({ error, message, remedy })}\n\n`)
      setTimeout(() => reply.raw.destroy(), farewellMs).unref()
    },
  }
}

/** JSON has no line breaks, so one line of data is enough. */
function eventText({ type, position, json }: TailEvent): string {
  const name = type === 'reading' ? '' : `event: ${type}\n`
  return `${name}id: ${position}\ndata: ${json}\n\n`
}

/** Without data it is no event: clients only take note of the position. */
function positionText(position: string): string {
  return `id: ${position}\n\n`
}
