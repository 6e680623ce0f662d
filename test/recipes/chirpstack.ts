import { type Recipe, series } from './recipe.ts'
import { marchMs, wave } from './signals.ts'

/** Events that come to the same address: up, and now and then status, join or log. */
function stateOf(index: number) {
  const event = index === 0 ? 'join' : index % 25 === 7 ? 'log' : index % 12 === 5 ? 'status' : 'up'
  const whole = new Date(marchMs + index * 300_000).toISOString().slice(0, 19)
  const nanoseconds = String((775_023_242 + index * 9_123_457) % 1_000_000_000).padStart(9, '0')
  return {
    event,
    sent: `${whole}.${nanoseconds}+00:00`,
    timestamp: `${whole}.${nanoseconds.slice(0, 6)}Z`,
    temperature: wave(index, { mean: 12, swing: 13, period: 60, digits: 1 }),
    isOpen: index % 7 === 0,
    rssi: -50 - (index % 60),
    snr: index % 10 === 0 ? undefined : wave(index, { mean: 7, swing: 5, period: 40, digits: 1 }),
    battery: 88 - Math.floor(index / 30),
  }
}

const deviceInfo = JSON.stringify({
  tenantId: '52f14cd4-c6f1-4fbd-8f87-4025e1d49242',
  tenantName: 'ChirpStack',
  applicationId: '17c82e96-be03-4f38-aef3-f83d48582d97',
  applicationName: 'Test application',
  deviceProfileId: '14855bf7-d10d-4aee-b618-ebfcb64dc7ad',
  deviceProfileName: 'Test device-profile',
  deviceName: 'Gate',
  devEui: '0101010101010101',
  deviceClassEnabled: 'CLASS_A',
  tags: {},
})

/** The server writes each number of an object as a double. */
function double(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value)
}

function bodyOf(index: number): string {
  const { event, sent, temperature, isOpen, rssi, snr, battery } = stateOf(index)
  const id = `3ac7e3c4-4401-4b8d-9386-${String(index).padStart(12, '0')}`
  const head = `"deduplicationId":"${id}","time":"${sent}","deviceInfo":${deviceInfo}`
  if (event === 'join') return `{${head},"devAddr":"00189440"}`
  if (event === 'status') {
    return `{${head},"margin":10,"externalPowerSource":false,"batteryLevelUnavailable":false,"batteryLevel":${double(battery)}}`
  }
  if (event === 'log') {
    return `{"time":"${sent}","deviceInfo":${deviceInfo},"level":"ERROR","code":"UPLINK_MIC","description":"MIC is invalid","context":{}}`
  }
  const rx =
    `"gatewayId":"0016c001f153a14c","uplinkId":${4_217_106 + index},"nsTime":"${sent}",` +
    `"rssi":${rssi}${snr === undefined ? '' : `,"snr":${double(snr)}`},"context":"E3OWOQ==","crcStatus":"CRC_OK"`
  return (
    `{${head},"devAddr":"00189440","adr":true,"dr":1,"fCnt":${index},"fPort":1,"confirmed":false,` +
    `"data":"qg==","object":{"temperature":${double(temperature)},"open":${isOpen}},` +
    `"rxInfo":[{${rx}}],"txInfo":{"frequency":867100000,"modulation":{"lora":{"bandwidth":125000,"spreadingFactor":11,"codeRate":"CR_4_5"}}}}`
  )
}

export const chirpstack: Recipe = {
  name: 'chirpstack',
  front: 'http',
  credentials: 'headers',
  messages: series((index) => ({
    query: `?event=${stateOf(index).event}`,
    headers: { 'content-type': 'application/json' },
    payload: bodyOf(index),
  })),
  expected: (index) => {
    const { event, timestamp, temperature, isOpen, rssi, snr, battery } = stateOf(index)
    const device = '0101010101010101'
    if (event === 'status') return [{ timestamp, device, event, battery }]
    if (event !== 'up') return []
    const reading = { timestamp, device, event, temperature, is_open: isOpen, rssi }
    return [snr === undefined ? reading : { ...reading, snr }]
  },
}
