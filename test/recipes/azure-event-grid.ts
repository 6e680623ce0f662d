import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const hub = '/SUBSCRIPTIONS/S/RESOURCEGROUPS/R/PROVIDERS/MICROSOFT.DEVICES/IOTHUBS/H'

/** Devices that connect are events as well; times have seven decimals. */
function stateOf(index: number) {
  return {
    atMs: marchMs + index * 20_000,
    isTelemetry: index % 12 !== 7,
    device: `d${index % 4}`,
    temperature: wave(index, { mean: 15, swing: 12, period: 70, digits: 1 }),
    location: index % 6 === 1 ? undefined : 'USA',
  }
}

export const azureEventGrid: Recipe = {
  name: 'azure-event-grid',
  front: 'webhook',
  messages: series((index) => {
    const { atMs, isTelemetry, device, temperature, location } = stateOf(index)
    const time = new Date(atMs).toISOString().replace('Z', '4383Z')
    const telemetry = {
      body: { Weather: { Temperature: temperature }, Location: location },
      properties: { Status: 'Active' },
      systemProperties: {
        'iothub-content-type': 'application/json',
        'iothub-content-encoding': 'utf-8',
        'iothub-connection-device-id': device,
        'iothub-connection-auth-method':
          '{"scope":"device","type":"sas","issuer":"iothub","acceptingIpFilterRule":null}',
        'iothub-connection-auth-generation-id': '123455432199234570',
        'iothub-enqueuedtime': time,
        'iothub-message-source': 'Telemetry',
      },
    }
    const connected = {
      deviceConnectionStateEventInfo: {
        sequenceNumber: '000000000000000001D4132452F67CE200000002000000000000000000000001',
      },
      hubName: 'egtesthub1',
      deviceId: device,
    }
    return {
      headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
      query: '?code=a-long-secret-of-yours',
      payload: JSON.stringify({
        id: `9af86784-8d40-fe2g-8b2a-${String(index).padStart(12, '0')}`,
        source: hub,
        subject: `devices/${device}`,
        type: `Microsoft.Devices.${isTelemetry ? 'DeviceTelemetry' : 'DeviceConnected'}`,
        time,
        data: isTelemetry ? telemetry : connected,
        specversion: '1.0',
      }),
    }
  }),
  expected: (index) => {
    const { atMs, isTelemetry, device, temperature, location } = stateOf(index)
    if (!isTelemetry) return []
    const timestamp = stored(atMs).replace('000Z', '438Z')
    return [{ timestamp, device, temperature, ...(location !== undefined && { location }) }]
  },
}
