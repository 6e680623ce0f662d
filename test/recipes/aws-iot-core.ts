import { type FleetRecipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const things = ['press-7', 'press-8', 'oven-2', 'dryer-1']

/** With batches an action sends a list of what came within some milliseconds; every third one is such a list here. */
function countOf(index: number): number {
  return index % 3 === 0 ? 2 + (index % 4) : 1
}

function thingOf(index: number, place: number): string {
  return things[(index + place) % things.length] ?? ''
}

/** A sensor that is new has no battery yet. */
function stateOf(index: number, place: number) {
  return {
    atMs: marchMs + index * 9_000 + place * 3,
    temperature: wave(index + place, { mean: 61, swing: 12, period: 70, digits: 1 }),
    vibration: wave(index + place, { mean: 0.4, swing: 0.3, period: 45, digits: 3 }),
    ...(index > 20 && { battery: 100 - (index % 30) }),
  }
}

/** What the SELECT of the rule makes of a message. */
function selected(index: number, place: number): string {
  const { atMs, ...members } = stateOf(index, place)
  const firmware = { firmware: { version: '2.1.4' } }
  return JSON.stringify({
    ...members,
    ...firmware,
    device: thingOf(index, place),
    receivedAt: atMs,
  })
}

function placesOf(index: number): readonly number[] {
  return Array.from({ length: countOf(index) }, (_, place) => place)
}

export const awsIotCore: FleetRecipe = {
  name: 'aws-iot-core',
  front: 'http',
  messages: series((index) => {
    const all = placesOf(index).map((place) => selected(index, place))
    return {
      headers: { 'content-type': 'application/json' },
      payload: all.length === 1 ? all.join('') : `[${all.join(',')}]`,
    }
  }),
  expected: (index) =>
    placesOf(index).map((place) => {
      const { atMs, ...reading } = stateOf(index, place)
      return { timestamp: stored(atMs), ...reading }
    }),
  device: thingOf,
}
