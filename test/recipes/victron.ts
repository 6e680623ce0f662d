import { type Recipe, series } from './recipe.ts'
import { wave } from './signals.ts'

const quantities = ['Voltage', 'Current', 'Power', 'Temperature'] as const

/** The battery monitor knows no temperature until its sensor is plugged in; floats come as they are in memory. */
function valueOf(index: number): number | null {
  const round = Math.floor(index / quantities.length)
  const quantity = quantities[index % quantities.length]
  const current = Math.fround(wave(round, { mean: -3, swing: 40, period: 50, digits: 1 }))
  const voltage = Math.fround(wave(round, { mean: 52.4, swing: 1.2, period: 60, digits: 2 }))
  if (quantity === 'Voltage') return voltage
  if (quantity === 'Current') return current
  if (quantity === 'Power') return Math.round(voltage * current) + 0
  return round < 12 ? null : 18 + (round % 6)
}

export const victron: Recipe = {
  name: 'victron',
  front: 'broker',
  messages: series((index) => ({
    topic: `N/c0619ab12345/battery/278/Dc/0/${quantities[index % quantities.length]}`,
    payload: `{"value":${valueOf(index)}}`,
  })),
  expected: (index) => {
    const value = valueOf(index)
    if (value === null) return []
    return [{ instance: '278', quantity: quantities[index % quantities.length], value }]
  },
}
