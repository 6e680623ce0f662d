import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** A message has the tags that have changed; the counter is read later than the others. */
function stateOf(index: number) {
  const atMs = marchMs + index * 10_000 + (index % 13)
  return {
    atMs,
    laterMs: atMs + 250,
    temperature: wave(index, { mean: 68, swing: 30, period: 60, digits: 3 }),
    running: index % 4 === 3 ? undefined : index % 24 < 20,
    pieces: 4_711 + index,
  }
}

function value(tag: string, v: number | boolean, t: number): string {
  return `{"id":"Line7.Oven.${tag}","v":${v},"q":true,"t":${t}}`
}

export const kepware: Recipe = {
  name: 'kepware',
  front: 'mqtt',
  messages: series((index) => {
    const { atMs, laterMs, temperature, running, pieces } = stateOf(index)
    const values = [
      value('Temperature', temperature, atMs),
      ...(running === undefined ? [] : [value('Running', running, atMs)]),
      value('Pieces', pieces, laterMs),
    ]
    return {
      topic: 'iotgateway',
      payload: `{"timestamp":${laterMs + 3},"values":[${values.join(',')}]}`,
    }
  }),
  expected: (index) => {
    const { atMs, laterMs, temperature, running, pieces } = stateOf(index)
    const first = { timestamp: stored(atMs), temperature }
    return [
      running === undefined ? first : { ...first, running },
      { timestamp: stored(laterMs), pieces },
    ]
  },
}
