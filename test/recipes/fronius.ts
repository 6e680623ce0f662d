import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** Without a battery its power is null, and so is that of the panels when the inverter sleeps. */
function stateOf(index: number) {
  const isNight = index % 96 < 30
  return {
    atMs: marchMs + index * 900_000,
    isBusy: index % 41 === 17,
    pv: isNight ? null : wave(index, { mean: 2_400, swing: 2_300, period: 96, digits: 2 }),
    grid: wave(index, { mean: -300, swing: 1_200, period: 50, digits: 2 }),
    load: wave(index, { mean: -700, swing: 300, period: 40, digits: 2 }),
    total: 3_275_219.75 + index * 125,
  }
}

/** Local time with the offset from UTC, as the inverter has it. */
function time(ms: number): string {
  return `${new Date(ms + 3_600_000).toISOString().slice(0, 19)}+01:00`
}

export const fronius: Recipe = {
  name: 'fronius',
  front: 'api',
  messages: series((index) => {
    const { atMs, isBusy, pv, grid, load, total } = stateOf(index)
    const status = isBusy
      ? '"Code":8,"Reason":"LNRequest: Timeout","UserMessage":""'
      : '"Code":0,"Reason":"","UserMessage":""'
    const site =
      `"BatteryStandby":false,"E_Day":null,"E_Total":${total},"E_Year":null,"Meter_Location":"grid",` +
      `"Mode":"meter","P_Akku":null,"P_Grid":${grid},"P_Load":${load},"P_PV":${pv},` +
      '"rel_Autonomy":100.0,"rel_SelfConsumption":null'
    const inverter = `"1":{"DT":1,"E_Day":null,"E_Total":${total},"E_Year":null,"P":${pv ?? 0}}`
    const data = isBusy ? '' : `"Inverters":{${inverter}},"Site":{${site}},"Version":"12"`
    const head = `"RequestArguments":{},"Status":{${status}},"Timestamp":"${time(atMs)}"`
    return {
      headers: { 'content-type': 'application/json' },
      payload: `{"Body":{"Data":{${data}}},"Head":{${head}}}`,
    }
  }),
  expected: (index) => {
    const { atMs, isBusy, pv, ...fields } = stateOf(index)
    if (isBusy) return []
    return [{ timestamp: stored(atMs), ...(pv !== null && { pv }), ...fields }]
  },
}
