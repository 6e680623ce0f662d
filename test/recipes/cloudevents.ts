import { type Recipe, series } from './recipe.ts'
import { marchMs, seconds, stored, wave } from './signals.ts'

/** Events of two types; only the one about readings has numbers. */
function stateOf(index: number) {
  return {
    atMs: marchMs + index * 5_000,
    isReading: index % 14 !== 13,
    boiler: `/plants/7/boilers/${index % 3}`,
    temperature: wave(index, { mean: 66, swing: 12, period: 48, digits: 1 }),
    pressure: index % 6 === 0 ? undefined : 2 + (index % 3),
  }
}

export const cloudevents: Recipe = {
  name: 'cloudevents',
  front: 'http',
  credentials: 'headers',
  messages: series((index) => {
    const { atMs, isReading, boiler, temperature, pressure } = stateOf(index)
    const event = {
      specversion: '1.0',
      type: isReading ? 'com.example.boiler.measured' : 'com.example.boiler.serviced',
      source: boiler,
      id: `A234-1234-${index}`,
      time: seconds(atMs),
      datacontenttype: 'application/json',
      data: isReading ? { temperature, pressure } : { by: 'Jane' },
    }
    return {
      headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
      payload: JSON.stringify(event),
    }
  }),
  expected: (index) => {
    const { atMs, isReading, boiler, temperature, pressure } = stateOf(index)
    if (!isReading) return []
    const reading = { timestamp: stored(atMs), boiler, temperature }
    return [pressure === undefined ? reading : { ...reading, pressure }]
  },
}
