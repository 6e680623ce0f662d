import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** Rows that are written, changed and deleted; a column may be null. */
function stateOf(index: number) {
  return {
    atMs: marchMs + index * 4_000 + (index % 997),
    op: index % 16 === 15 ? 'd' : index % 5 === 4 ? 'u' : index < 3 ? 'r' : 'c',
    id: 1_001 + index,
    sensor: index % 2 === 0 ? 'inlet' : 'outlet',
    temperature: wave(index, { mean: 55, swing: 20, period: 60, digits: 2 }),
    humidity: index % 9 === 1 ? null : 30 + (index % 50),
  }
}

function rowOf(index: number): string {
  const { id, sensor, temperature, humidity } = stateOf(index)
  return JSON.stringify({ id, sensor, temperature, humidity })
}

/** What the JSON converter sends along with each message unless it is told not to. */
const schema = JSON.stringify({
  type: 'struct',
  fields: [
    { type: 'struct', optional: true, name: 'plant.public.readings.Value', field: 'before' },
    { type: 'struct', optional: true, name: 'plant.public.readings.Value', field: 'after' },
    { type: 'string', optional: false, field: 'op' },
    { type: 'int64', optional: true, field: 'ts_ms' },
  ],
  optional: false,
  name: 'plant.public.readings.Envelope',
})

export const debezium: Recipe = {
  name: 'debezium',
  front: 'kafka',
  messages: series((index) => {
    const { atMs, op, id } = stateOf(index)
    const source =
      '"version":"2.7.0.Final","connector":"postgresql","name":"plant",' +
      `"ts_ms":${atMs},"snapshot":"${op === 'r'}","db":"plant","sequence":"[null,\\"37082784\\"]",` +
      `"schema":"public","table":"readings","txId":${778 + index},"lsn":${37_082_784 + index},"xmin":null`
    const before =
      op === 'd' || op === 'u'
        ? `{"id":${id},"sensor":null,"temperature":null,"humidity":null}`
        : 'null'
    const after = op === 'd' ? 'null' : rowOf(index)
    const payload =
      `"before":${before},"after":${after},"source":{${source}},"op":"${op}",` +
      `"ts_ms":${atMs + 310},"transaction":null`
    return {
      topic: 'plant.public.readings',
      key: `{"schema":{"type":"struct"},"payload":{"id":${id}}}`,
      payload: `{"schema":${schema},"payload":{${payload}}}`,
    }
  }),
  expected: (index) => {
    const { atMs, op, id, sensor, temperature, humidity } = stateOf(index)
    if (op === 'd') return []
    const reading = { timestamp: stored(atMs), id, op, sensor, temperature }
    return [humidity === null ? reading : { ...reading, humidity }]
  },
}
