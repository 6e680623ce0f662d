import { kafka } from '../connectors/kafka/kafka.ts'
import { FetchingSource } from '../test/support/fetching-source.ts'
import { Kafka } from '../test/support/kafka.ts'
import { type Drained, drained, drainedText } from './drained-source.ts'
import { type Figure, printFigure } from './report.ts'
import { waitingReading } from './waiting-readings.ts'

const wanted = 60_000
const partitions = 6

/** Messages of a batch that a producer sends. */
const perBatch = 5_000

const compressions = ['none', 'lz4', 'zstd'] as const

/** How fast readings that wait in a topic of Kafka get into the journal, one in each message. */
export async function kafkaSpeed(count = 600_000): Promise<Figure> {
  await using server = await Kafka.start()
  const rates: Drained[] = []
  for (const compression of compressions) rates.push(await rateOf(server, { compression, count }))
  const slowest = Math.min(...rates.map(({ perSecond }) => perSecond))
  const each = compressions.map((name, at) => `${name}: ${drainedText(rates[at] as Drained)}`)
  return {
    name: `a topic of Kafka with ${count.toLocaleString('en')} readings, one in a message: the slowest compression`,
    measured: `${slowest.toLocaleString('en')}/s (${each.join('; ')})`,
    target: `${wanted.toLocaleString('en')}/s`,
    isMet: slowest >= wanted,
  }
}

async function rateOf(
  server: Kafka,
  {
    compression,
    count,
  }: { readonly compression: (typeof compressions)[number]; readonly count: number },
): Promise<Drained> {
  const topic = await server.newTopic(partitions)
  for (let from = 0; from < count; from += perBatch) {
    const partition = (from / perBatch) % partitions
    const messages = Array.from({ length: Math.min(perBatch, count - from) }, (_, at) => ({
      value: waitingReading(from + at),
      partition,
    }))
    await server.produce(topic, messages, { compression, perBatch })
  }
  const source = { protocol: 'kafka', endpoint: server.endpoint, topic }
  await using follower = new FetchingSource({ connector: kafka, source, ports: [server.port] })
  return await drained(follower, count)
}

/** By itself with `npm run bench:kafka`. */
if (import.meta.main) printFigure(await kafkaSpeed())
