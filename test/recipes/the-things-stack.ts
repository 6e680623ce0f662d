import { type Recipe, series } from './recipe.ts'
import { marchMs, wave } from './signals.ts'

/** What is empty is left out, and a frame counter of 0 is: so is it after a join. */
function stateOf(index: number) {
  const whole = new Date(marchMs + index * 600_000).toISOString().slice(0, 19)
  const nanoseconds = String((736_532_315 + index * 7_654_321) % 1_000_000_000).padStart(9, '0')
  return {
    sent: `${whole}.${nanoseconds}Z`,
    timestamp: `${whole}.${nanoseconds.slice(0, 6)}Z`,
    device: index % 3 === 0 ? 'cellar' : 'attic',
    counter: index % 50 === 0 ? undefined : index % 50,
    temperature: wave(index, { mean: 0, swing: 15, period: 70, digits: 1 }),
    humidity: index % 6 === 2 ? undefined : 40 + (index % 30),
    rssi: -70 - (index % 50),
    snr: index % 8 === 0 ? undefined : wave(index, { mean: 6, swing: 4, period: 30, digits: 1 }),
  }
}

export const theThingsStack: Recipe = {
  name: 'the-things-stack',
  front: 'webhook',
  messages: series((index) => {
    const { sent, device, counter, temperature, humidity, rssi, snr } = stateOf(index)
    const uplink = {
      session_key_id: 'AXA50tHUGUucuzS/bCGMNw==',
      f_port: 2,
      f_cnt: counter,
      frm_payload: 'gkHe',
      decoded_payload: { temperature, humidity },
      rx_metadata: [
        {
          gateway_ids: { gateway_id: 'gtw1', eui: '9C5C8E00001A05C4' },
          time: sent,
          timestamp: 2_463_457_000 + index,
          rssi,
          channel_rssi: rssi,
          snr,
          uplink_token: 'ChIKEAoEZ3R3MRIInFyOAAAaBcQQ6L3Vlgk=',
        },
      ],
      settings: {
        data_rate: { lora: { bandwidth: 125_000, spreading_factor: 7, coding_rate: '4/5' } },
        frequency: '868300000',
        timestamp: 2_463_457_000 + index,
      },
      received_at: sent,
      consumed_airtime: '0.056576s',
      network_ids: { net_id: '000013', tenant_id: 'ttn', cluster_id: 'eu1' },
    }
    const message = {
      end_device_ids: {
        device_id: device,
        application_ids: { application_id: 'app1' },
        dev_eui: '0004A30B001C0530',
        join_eui: '800000000000000C',
        dev_addr: '00BCB929',
      },
      correlation_ids: [`as:up:01E0${index}`],
      received_at: sent.replace(/\d{3}Z$/, '999Z'),
      uplink_message: uplink,
    }
    return {
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(message),
    }
  }),
  expected: (index) => {
    const { sent: _, ...fields } = stateOf(index)
    return [JSON.parse(JSON.stringify({ ...fields, port: 2 })) as typeof fields]
  },
}
