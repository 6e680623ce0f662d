import { iso, mostly, nullable, type Series, seconds, time, value, wall } from './values.ts'

/** Devices, trackers and gateways, as their documentation has them. */
export const devices: readonly Series[] = [
  {
    name: 'Tasmota',
    message: (index) => ({
      topic: 'tele/plug/SENSOR',
      payload: { Time: wall(index), ENERGY: { Power: nullable(index), Factor: value(index, 2) } },
    }),
    source: { timestampField: 'Time', timestampFormat: 'local', timezone: 'UTC' },
    fields: { energy_power: 'ENERGY.Power', energy_factor: 'ENERGY.Factor' },
  },
  {
    name: 'zigbee2mqtt',
    message: (index) => ({
      topic: `zigbee2mqtt/room ${index % 3}`,
      payload: {
        temperature: nullable(index),
        last_seen: iso(index),
        update: { state: 'idle' },
        ...mostly(index, { battery: 97, linkquality: value(index, 3) }),
      },
    }),
    source: { topic: 'zigbee2mqtt/+', timestampField: 'last_seen' },
    fields: { temperature: undefined, device: '$topic[1]', update_state: 'update.state' },
  },
  {
    name: 'a Shelly of the second generation',
    message: (index) => ({
      topic: 'shellyplus1pm/events/rpc',
      payload: {
        src: 'shellyplus1pm',
        method: 'NotifyStatus',
        params: {
          ts: seconds(index) + 0.43,
          'switch:0': { id: 0, ...(index % 2 === 0 && { apower: value(index) }) },
        },
      },
    }),
    source: { timestampField: 'params.ts', timestampFormat: 'epoch_s' },
    fields: { switch_0_apower: 'params.switch:0.apower' },
  },
  {
    name: 'The Things Stack',
    message: (index) => ({
      payload: {
        end_device_ids: { device_id: 'meter-7' },
        received_at: iso(index).replace('Z', '123456Z'),
        uplink_message: {
          f_port: 2,
          f_cnt: index,
          decoded_payload: { temperature: nullable(index), ...mostly(index, { humidity: 40 }) },
          rx_metadata: Array.from({ length: 1 + (index % 3) }, (_, place) => ({
            gateway_ids: { gateway_id: `gw-${place}` },
            rssi: -100 + place,
            ...(index > 50 && { time: iso(index) }),
          })),
          settings: { timestamp: 1_463_457_000 + index, frequency: '868100000' },
        },
      },
    }),
    source: { timestampField: 'received_at' },
    fields: {
      decoded_payload_temperature: 'uplink_message.decoded_payload.temperature',
      rx_metadata_0_rssi: 'uplink_message.rx_metadata[0].rssi',
    },
  },
  {
    name: 'a Ruuvi gateway',
    message: (index) => ({
      payload: {
        data: {
          coordinates: '',
          timestamp: `${seconds(index)}`,
          gw_mac: 'C8:25:2D:8E:9C:2C',
          tags: Object.fromEntries(
            Array.from({ length: 1 + (index % 3) }, (_, place) => [
              `F4:1F:0C:28:CB:D${place}`,
              { rssi: -50 - place, timestamp: `${seconds(index)}`, data: '02' },
            ]),
          ),
        },
      },
    }),
    source: { items: { path: 'data.tags', as: 'map' }, timestampFormat: 'epoch_s' },
    fields: { key: undefined, rssi: undefined, data_gw_mac: '$parent.data.gw_mac' },
  },
  {
    name: 'OwnTracks',
    message: (index) => ({
      topic: 'owntracks/jane/phone',
      payload: {
        _type: 'location',
        lat: value(index),
        lon: value(index, 2),
        tst: seconds(index),
        ...mostly(index, { batt: 50, vel: value(index) }),
      },
    }),
    source: { timestampField: 'tst', timestampFormat: 'epoch_s' },
    fields: { lat: undefined, tst: undefined },
  },
  {
    name: 'Traccar',
    message: (index) => ({
      payload: {
        position: {
          deviceId: 1,
          serverTime: iso(index + 1),
          deviceTime: iso(index),
          fixTime: iso(index).replace('Z', '+00:00'),
          latitude: value(index),
          address: index > 20 ? 'Main Street' : null,
          attributes: { ...mostly(index, { batteryLevel: value(index) }), motion: index % 2 === 0 },
        },
        device: { id: 1, uniqueId: '862205051234567', lastUpdate: iso(index) },
      },
    }),
    source: { timestampField: 'position.fixTime' },
    fields: { position_latitude: 'position.latitude', device_unique_id: 'device.uniqueId' },
  },
  {
    name: 'a tracker with numbers for names',
    message: (index) => ({
      payload: {
        state: {
          reported: { ts: time(index).getTime(), latlng: '54.6,25.2', 239: 1, 66: nullable(index) },
        },
      },
    }),
    source: { timestampField: 'state.reported.ts', timestampFormat: 'epoch_ms' },
    fields: { reported_66: 'state.reported.66' },
  },
]
