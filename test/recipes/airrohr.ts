import { type Recipe, series } from './recipe.ts'
import { wave } from './signals.ts'

/** All numbers are texts; a sensor that does not answer is left out. */
function stateOf(index: number) {
  const isDusty = index % 19 !== 11
  return {
    pm10: isDusty ? wave(index, { mean: 19, swing: 11, period: 50, digits: 2 }) : undefined,
    pm2_5: isDusty ? wave(index, { mean: 8, swing: 5, period: 50, digits: 2 }) : undefined,
    temperature: wave(index, { mean: 1, swing: 8, period: 90, digits: 2 }),
    pressure: wave(index, { mean: 100_800, swing: 900, period: 120, digits: 2 }),
    humidity: wave(index, { mean: 60, swing: 30, period: 70, digits: 2 }),
    signal: -60 - (index % 25),
  }
}

function value(type: string, text: string): string {
  return `{"value_type":"${type}","value":"${text}"}`
}

export const airrohr: Recipe = {
  name: 'airrohr',
  front: 'http',
  credentials: 'basic',
  messages: series((index) => {
    const { pm10, pm2_5, temperature, pressure, humidity, signal } = stateOf(index)
    const values = [
      ...(pm10 === undefined ? [] : [value('SDS_P1', pm10.toFixed(2))]),
      ...(pm2_5 === undefined ? [] : [value('SDS_P2', pm2_5.toFixed(2))]),
      value('BME280_temperature', temperature.toFixed(2)),
      value('BME280_pressure', pressure.toFixed(2)),
      value('BME280_humidity', humidity.toFixed(2)),
      value('samples', String(4_851_413 + index * 11)),
      value('min_micro', '28'),
      value('max_micro', '20057'),
      value('interval', '145000'),
      value('signal', String(signal)),
    ]
    return {
      headers: {
        'content-type': 'application/json',
        'x-sensor': 'esp8266-1234567',
        'x-mac-id': 'esp8266-5ccf7f123456',
        'user-agent': 'NRZ-2020-133/1234567/5ccf7f123456',
      },
      payload: `{"esp8266id": "1234567", "software_version": "NRZ-2020-133", "sensordatavalues":[${values.join(',')}]}`,
    }
  }),
  expected: (index) => {
    const reading = { device: '1234567', ...stateOf(index) }
    return [JSON.parse(JSON.stringify(reading)) as typeof reading]
  },
}
