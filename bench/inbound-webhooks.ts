import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { InboundWebhook } from '../test/support/inbound-webhook.ts'
import { senders } from '../test/support/webhook-senders.ts'
import { HttpResponseReader } from './http-responses.ts'
import { type Figure, printFigure } from './report.ts'
import { startStreamvault } from './servers.ts'

/** Messages a second that are wanted. */
const wanted = 10_000

const connections = 64

/** Requests outstanding on each: senders do not wait for one answer before they send the next. */
const pipelining = 4

const sender = senders['standard-webhooks']
const key = Buffer.from(sender.secret.replace('whsec_', ''), 'base64')

/** How fast signed messages, with one event in each, get into the journal. */
export async function inboundWebhookSpeed(seconds = 10): Promise<Figure> {
  const target = await startStreamvault(0)
  const schema = {
    number: { type: 'integer' },
    level: { type: 'number' },
    state: { type: 'string' },
  }
  const hook = await InboundWebhook.open(target.api, sender, { schema })
  const address = new URL(target.http)
  const senderOf = () => new SignedLoad(address, hook.path)
  const loads = Array.from({ length: connections }, senderOf)
  await sleep(2_000)
  const before = answered(loads)
  const begunMs = performance.now()
  await sleep(seconds * 1_000)
  const perSecond = ((answered(loads) - before) / (performance.now() - begunMs)) * 1_000
  for (const load of loads) load.end()
  const { counters } = await target.api.status(hook.streamId)
  if (counters.received < answered(loads)) throw new Error('what was answered was not received')
  await target.stop()
  return {
    name: 'signed messages a second of an inbound webhook, each on disk and known again by its id',
    measured: Math.round(perSecond).toLocaleString('en-US'),
    target: wanted.toLocaleString('en-US'),
    isMet: perSecond >= wanted,
  }
}

function answered(loads: readonly SignedLoad[]): number {
  return loads.reduce((sum, load) => sum + load.answered, 0)
}

let sent = 0

/** One keep-alive connection in a closed loop. */
class SignedLoad {
  readonly #socket: Socket
  readonly #head: string
  answered = 0

  constructor({ hostname, port, host }: URL, path: string) {
    this.#head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`
    const reader = new HttpResponseReader(({ status, snippet }) => {
      if (status !== 202) throw new Error(`answered ${status}: ${snippet}`)
      this.answered++
      this.#send()
    })
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('data', (bytes) => reader.push(bytes))
    this.#socket.once('connect', () => {
      for (let count = 0; count < pipelining; count++) this.#send()
    })
  }

  end(): void {
    this.#socket.destroy()
  }

  #send(): void {
    const number = sent++
    const id = `msg_${number}`
    const body = `{"number":${number},"level":21.5,"state":"running"}`
    const timestamp = Math.floor(Date.now() / 1_000)
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    this.#socket.write(
      `${this.#head}Webhook-Id: ${id}\r\nWebhook-Timestamp: ${timestamp}\r\n` +
        `Webhook-Signature: v1,${mac}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  }
}

/** By itself with `npm run bench:inbound-webhooks`. */
if (import.meta.main) printFigure(await inboundWebhookSpeed())
