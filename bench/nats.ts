import { nats } from '../connectors/nats/nats.ts'
import { FetchingSource } from '../test/support/fetching-source.ts'
import { NatsServer } from '../test/support/nats.ts'
import { type Drained, drained, drainedText } from './drained-source.ts'
import { type Figure, printFigure } from './report.ts'
import { waitingReading } from './waiting-readings.ts'

const wanted = 40_000

/** Messages that are published at once. */
const portion = 5_000

const consumers = ['a consumer of our own', 'a consumer of a group', 'a work queue'] as const

/** How fast readings that wait in a stream of NATS JetStream get into the journal, one in each message. */
export async function natsSpeed(count = 400_000): Promise<Figure> {
  await using server = await NatsServer.start()
  const rates: Drained[] = []
  for (const consumer of consumers) rates.push(await rateOf(server, consumer, count))
  const slowest = Math.min(...rates.map(({ perSecond }) => perSecond))
  const each = consumers.map((name, at) => `${name}: ${drainedText(rates[at] as Drained)}`)
  return {
    name: `a stream of NATS with ${count.toLocaleString('en')} readings, one in a message: the slowest consumer`,
    measured: `${slowest.toLocaleString('en')}/s (${each.join('; ')})`,
    target: `${wanted.toLocaleString('en')}/s`,
    isMet: slowest >= wanted,
  }
}

async function rateOf(
  server: NatsServer,
  consumer: (typeof consumers)[number],
  count: number,
): Promise<Drained> {
  const stream = await server.newStream({
    retention: consumer === 'a work queue' ? 'workqueue' : 'limits',
  })
  const topic = `${stream.toLowerCase()}.boiler`
  for (let from = 0; from < count; from += portion) {
    const numbers = Array.from({ length: Math.min(portion, count - from) }, (_, at) => from + at)
    await server.publish(topic, numbers.map(waitingReading))
  }
  const group = consumer === 'a consumer of a group' ? { group: 'vault' } : {}
  const source = { protocol: 'nats', endpoint: server.endpoint, topic, ...group }
  await using follower = new FetchingSource({ connector: nats, source, ports: [server.port] })
  return await drained(follower, count)
}

/** By itself with `npm run bench:nats`. */
if (import.meta.main) printFigure(await natsSpeed())
