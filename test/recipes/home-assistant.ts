import { type Recipe, series } from './recipe.ts'
import { wave } from './signals.ts'

const entities = ['living_room_temperature', 'heat_pump_power', 'garden_rain'] as const

/** States are texts: numbers, and words for what is not known. */
function stateOf(index: number): string {
  const round = Math.floor(index / entities.length)
  const entity = entities[index % entities.length]
  if (round === 0 && entity === 'garden_rain') return 'unknown'
  if (round % 13 === 7 && entity === 'heat_pump_power') return 'unavailable'
  if (entity === 'living_room_temperature') {
    return String(wave(round, { mean: 21, swing: 2, period: 30, digits: 1 }))
  }
  if (entity === 'heat_pump_power') {
    return String(wave(round, { mean: 900, swing: 900, period: 22, digits: 0 }))
  }
  return String(round % 5 === 0 ? 0.4 : 0)
}

export const homeAssistant: Recipe = {
  name: 'home-assistant',
  front: 'broker',
  messages: series((index) => ({
    topic: `homeassistant/sensor/${entities[index % entities.length]}/state`,
    payload: stateOf(index),
    isRetained: true,
  })),
  expected: (index) => {
    const state = stateOf(index)
    if (state === 'unknown' || state === 'unavailable') return []
    return [{ entity: entities[index % entities.length], value: Number(state) }]
  },
}
