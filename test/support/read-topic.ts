import { kafka } from '../../connectors/kafka/kafka.ts'
import { FetchingSource } from './fetching-source.ts'
import type { Kafka } from './kafka.ts'

/** A reading as the journal of tests takes it. */
export function numbered(number: number): Buffer {
  const timestamp = new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()
  return Buffer.from(JSON.stringify({ number, timestamp }))
}

export function numbersFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at)
}

/** Somebody who reads a topic into a journal, and does not yet. */
export function readerOf(
  server: Kafka,
  topic: string,
  more: Readonly<Record<string, unknown>> = {},
): FetchingSource {
  const source = { protocol: 'kafka', endpoint: server.endpoint, topic, ...more }
  return new FetchingSource({ connector: kafka, source, ports: [server.port] })
}
