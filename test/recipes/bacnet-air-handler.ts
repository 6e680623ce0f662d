import { type Recipe, series } from './recipe.ts'
import { present, wave } from './signals.ts'

/** Codes of `reliability` in the standard (ASHRAE 135). */
const noFault = 0
const openLoop = 4

/** The sensor of the return air is not connected at times, and that of the supply air has a fault at others. */
function valuesOf(index: number) {
  return {
    supply: wave(index, { mean: 18, swing: 3, period: 50, digits: 1 }),
    supply_fault: index % 41 === 7 ? openLoop : noFault,
    return: index % 29 === 3 ? null : wave(index, { mean: 22, swing: 1, period: 70, digits: 1 }),
    setpoint: index % 100 < 60 ? 18 : 16.5,
    valve: wave(index, { mean: 45, swing: 40, period: 50, digits: 0 }),
    fan: index % 100 < 90,
    mode: (index % 3) + 1,
  }
}

/** What the objects say: a line for each property, with the type that it has on the wire. */
function objectsOf({ supply, fan, mode, ...values }: ReturnType<typeof valuesOf>): string {
  return [
    `analog-input:1 present-value REAL ${supply}`,
    `analog-input:1 reliability ENUMERATED ${values.supply_fault}`,
    `analog-input:2 present-value REAL ${values.return ?? Number.NaN}`,
    `analog-value:10 present-value REAL ${values.setpoint}`,
    `analog-output:1 present-value REAL ${values.valve}`,
    `binary-input:1 present-value ENUMERATED ${fan ? 1 : 0}`,
    `multi-state-value:1 present-value UNSIGNED_INTEGER ${mode}`,
  ].join('\n')
}

export const bacnetAirHandler: Recipe = {
  name: 'bacnet-air-handler',
  front: 'bacnet',
  messages: series((index) => ({ payload: objectsOf(valuesOf(index)) })),
  expected: (index) => [present(valuesOf(index))],
}
