import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const recordsPerMessage = 3

/** What a thermocouple that is broken measures is NAN. */
function stateOf(record: number) {
  return {
    atMs: marchMs + record * 15_000,
    record,
    battery: wave(record, { mean: 13.2, swing: 0.2, period: 60, digits: 2 }),
    panel_temperature: wave(record, { mean: 20, swing: 9, period: 90, digits: 2 }),
    soil_temperature:
      record % 11 === 4 ? undefined : wave(record, { mean: 12, swing: 3, period: 120, digits: 2 }),
  }
}

function recordsOf(index: number) {
  return Array.from({ length: recordsPerMessage }, (_, at) =>
    stateOf(index * recordsPerMessage + at),
  )
}

/** The clock of the logger is seven hours behind UTC. */
const behindMs = 7 * 3_600_000

export const campbellToa5: Recipe = {
  name: 'campbell-toa5',
  front: 'http',
  credentials: 'basic',
  messages: series((index) => ({
    headers: { 'content-type': 'text/csv' },
    payload: [
      '"TOA5","11467","CR1000","11467","CR1000.Std.20","CPU:file format.CR1","26243","Test"',
      '"TIMESTAMP","RECORD","batt_volt_Min","PTemp","TC_Avg(1)"',
      '"TS","RN","","","Deg C"',
      '"","","Min","Smp","Avg"',
      ...recordsOf(index).map((one) => {
        const time = new Date(one.atMs - behindMs).toISOString().slice(0, 19).replace('T', ' ')
        return `"${time}",${one.record},${one.battery},${one.panel_temperature},${one.soil_temperature ?? '"NAN"'}`
      }),
      '',
    ].join('\r\n'),
  })),
  expected: (index) =>
    recordsOf(index).map(({ atMs, soil_temperature: soil, ...reading }) => ({
      timestamp: stored(atMs),
      ...reading,
      ...(soil !== undefined && { soil_temperature: soil }),
    })),
}
