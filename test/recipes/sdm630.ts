import { type Recipe, series } from './recipe.ts'
import { wave } from './signals.ts'

/** Input registers of the protocol of Eastron, from 0: each value is a float32 in two of them, the higher word first. */
const registers = {
  voltage_l1: 0,
  voltage_l2: 2,
  voltage_l3: 4,
  current_l1: 6,
  current_l2: 8,
  current_l3: 10,
  power_l1: 12,
  power_l2: 14,
  power_l3: 16,
  power: 52,
  power_factor: 62,
  frequency: 70,
  imported: 72,
  exported: 74,
} as const

type Values = Readonly<Record<keyof typeof registers, number>>

/** A house with panels on its roof: at noon it exports, which is a negative power. */
function valuesOf(index: number): Values {
  const volts = (shift: number) =>
    wave(index + shift, { mean: 231, swing: 3, period: 40, digits: 1 })
  const watts = (shift: number) =>
    wave(index + shift, { mean: 300, swing: 1_500, period: 96, digits: 1 })
  const amperes = (shift: number) => Number(Math.abs(watts(shift) / volts(shift)).toFixed(2))
  return {
    voltage_l1: volts(0),
    voltage_l2: volts(13),
    voltage_l3: volts(27),
    current_l1: amperes(0),
    current_l2: amperes(13),
    current_l3: amperes(27),
    power_l1: watts(0),
    power_l2: watts(13),
    power_l3: watts(27),
    power: Number((watts(0) + watts(13) + watts(27)).toFixed(1)),
    power_factor: wave(index, { mean: 0.9, swing: 0.08, period: 30, digits: 3 }),
    frequency: wave(index, { mean: 50, swing: 0.04, period: 17, digits: 2 }),
    imported: Number((6_021.52 + index * 0.01).toFixed(2)),
    exported: 1_204.75,
  }
}

/** What the registers hold: a line for each value, its first register and its two words. */
function registersOf(values: Values): string {
  return Object.entries(registers)
    .map(([name, address]) => {
      const bytes = Buffer.alloc(4)
      bytes.writeFloatBE(values[name as keyof Values])
      return `input ${address}: ${bytes.toString('hex', 0, 2)} ${bytes.toString('hex', 2)}`
    })
    .join('\n')
}

export const sdm630: Recipe = {
  name: 'sdm630',
  front: 'modbus',
  messages: series((index) => ({ payload: registersOf(valuesOf(index)) })),
  expected: (index) => [valuesOf(index)],
}
