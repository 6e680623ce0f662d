import type { ExpectedReading, Recipe } from './recipe.ts'
import { series } from './recipe.ts'
import { marchMs, wave } from './signals.ts'

const writers = ['oven', 'press'] as const

/** Times have seven decimals, of which the last one is below a microsecond. */
function timeOf(index: number, writer: number): { readonly sent: string; readonly us: string } {
  const whole = new Date(marchMs + index * 1_000).toISOString().slice(0, 19)
  const decimals = String(1_234_567 + ((index * 7_919 + writer * 13) % 8_000_000)).padStart(7, '0')
  return { sent: `${whole}.${decimals}Z`, us: `${whole}.${decimals.slice(0, 6)}Z` }
}

/** Delta frames have what has changed; a keep-alive has no payload; a value that is bad is null. */
function frameOf(index: number, writer: number) {
  const kind = (index + writer) % 10 === 9 ? 'ua-keepalive' : 'ua-deltaframe'
  const temperature =
    index % 23 === 4 ? null : wave(index + writer, { mean: 180, swing: 25, period: 40, digits: 2 })
  const speed = index % 3 === 0 ? (index % 40) * 5 : undefined
  return { kind, temperature, speed }
}

function messageOf(index: number, writer: number): string {
  const { kind, temperature, speed } = frameOf(index, writer)
  const { sent } = timeOf(index, writer)
  const source = `"SourceTimestamp":"${sent}"`
  const value = (name: string, one: number | null) =>
    one === null
      ? `"${name}":{"Value":null,"StatusCode":{"Code":2150891520,"Symbol":"BadSensorFailure"}}`
      : `"${name}":{"Value":${one},${source}}`
  const values = [value('Temperature', temperature)]
  if (speed !== undefined) values.push(value('Speed', speed))
  const payload = kind === 'ua-keepalive' ? '' : `,"Payload":{${values.join(',')}}`
  return (
    `{"DataSetWriterId":${1000 + writer},"DataSetWriterName":"${writers[writer]}",` +
    `"SequenceNumber":${index},"MetaDataVersion":{"MajorVersion":1,"MinorVersion":0},` +
    `"Timestamp":"${sent}","MessageType":"${kind}"${payload}}`
  )
}

function readingOf(index: number, writer: number): readonly ExpectedReading[] {
  const { kind, temperature, speed } = frameOf(index, writer)
  if (kind === 'ua-keepalive') return []
  const timestamp = timeOf(index, writer).us
  const values = {
    ...(temperature !== null && { temperature }),
    ...(speed !== undefined && { speed }),
  }
  if (Object.keys(values).length === 0) return []
  return [{ timestamp, publisher: 'plant-7', machine: writers[writer], ...values }]
}

export const opcuaPubsub: Recipe = {
  name: 'opcua-pubsub',
  front: 'mqtt',
  messages: series((index) => {
    const messages = writers.map((_, writer) => messageOf(index, writer)).join(',')
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
    const head = `"MessageId":"${id}","MessageType":"ua-data","PublisherId":"plant-7"`
    return {
      topic: 'opcua/json/data/plant-7/line',
      payload: `{${head},"DataSetWriterGroup":"line","Messages":[${messages}]}`,
    }
  }),
  expected: (index) => writers.flatMap((_, writer) => readingOf(index, writer)),
}
