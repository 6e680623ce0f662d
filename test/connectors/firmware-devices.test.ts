import { describe, test } from 'vitest'
import { converse, type FirmwareScript } from '../support/firmware.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const retained = { retain: true } as const

/** Tasmota 14, `MqttReconnect` and `MqttConnected` of its driver: QoS 0, a will that is retained with QoS 1. */
const tasmota: FirmwareScript = {
  clientId: 'DVES_49A3BC',
  clean: true,
  will: ['tele/plug/LWT', 'Offline', { qos: 1, retain: true }],
  subscriptions: [
    ['cmnd/plug/#', 0],
    ['cmnd/tasmotas/#', 0],
    ['cmnd/DVES_49A3BC_fb/#', 0],
  ],
  says: [
    ['tele/plug/LWT', 'Online', retained],
    ['cmnd/plug/POWER', ''],
    [
      'tele/plug/INFO1',
      '{"Info1":{"Module":"Sonoff POW R2","Version":"14.2.0(tasmota)","FallbackTopic":"cmnd/DVES_49A3BC_fb/","GroupTopic":"cmnd/tasmotas/"}}',
    ],
    [
      'tele/plug/INFO2',
      '{"Info2":{"WebServerMode":"Admin","Hostname":"plug-0956","IPAddress":"192.168.15.10"}}',
    ],
    ['tele/plug/INFO3', '{"Info3":{"RestartReason":"Power On","BootCount":17}}'],
    ['stat/plug/RESULT', '{"POWER":"ON"}'],
    ['stat/plug/POWER', 'ON'],
    [
      'tasmota/discovery/CC50E349A3BC/config',
      '{"ip":"192.168.15.10","dn":"Plug","fn":["Plug",null],"hn":"plug-0956","mac":"CC50E349A3BC","md":"Sonoff POW R2","ft":"%prefix%/%topic%/","t":"plug","tp":["cmnd","stat","tele"],"ver":1}',
      retained,
    ],
    [
      'tasmota/discovery/CC50E349A3BC/sensors',
      '{"sn":{"Time":"2026-11-26T10:00:00","ENERGY":{"Power":0}},"ver":1}',
      retained,
    ],
    [
      'tele/plug/STATE',
      '{"Time":"2026-11-26T10:00:00","Uptime":"0T00:00:10","POWER":"ON","Wifi":{"RSSI":82}}',
    ],
  ],
  readings: {
    topic: 'tele/plug/SENSOR',
    schema: { ENERGY: { type: 'object', fields: { Power: { type: 'number' } } } },
    payloads: [
      '{"Time":"2026-11-26T10:00:10","ENERGY":{"Total":3.185,"Power":12,"Voltage":231,"Current":0.052}}',
      '{"Time":"2026-11-26T10:05:10","ENERGY":{"Total":3.186,"Power":13,"Voltage":231,"Current":0.056}}',
    ],
    stored: [{ ENERGY: { Power: 12 } }, { ENERGY: { Power: 13 } }],
  },
}

/** ESPHome with its own MQTT client: a session that is kept, values as plain texts, its log as messages. */
const esphome: FirmwareScript = {
  clientId: 'weather-a8032abe54dc',
  clean: false,
  will: ['weather/status', 'offline', retained],
  subscriptions: [
    ['weather/switch/heater/command', 0],
    ['weather/light/lamp/command', 0],
    ['esphome/discover', 0],
    ['esphome/ping/weather', 0],
  ],
  says: [
    ['weather/status', 'online', retained],
    ['esphome/discover/weather', '{"ip":"192.168.15.11","name":"weather","port":6053}', retained],
    [
      'homeassistant/sensor/weather/temperature/config',
      '{"dev_cla":"temperature","unit_of_meas":"°C","name":"Temperature","stat_t":"weather/sensor/temperature/state","avty_t":"weather/status","uniq_id":"ESPsensortemperature","dev":{"ids":"a8032abe54dc"}}',
      retained,
    ],
    [
      'homeassistant/switch/weather/heater/config',
      '{"name":"Heater","stat_t":"weather/switch/heater/state","cmd_t":"weather/switch/heater/command"}',
      retained,
    ],
    ['weather/switch/heater/state', 'OFF', retained],
    ['weather/debug', '\u001B[0;36m[D][sensor:094]: sending state 21.5\u001B[0m'],
  ],
  readings: {
    topic: 'weather/sensor/temperature/state',
    source: { format: 'plain' },
    schema: { temperature: { type: 'number' } },
    payloads: ['21.5', '21.7'],
    stored: [{ temperature: 21.5 }, { temperature: 21.7 }],
  },
}

/** A Shelly of the second generation, with notifications, status updates and control over MQTT. */
const shellyPlus: FirmwareScript = {
  clientId: 'shellyplus1pm-a8032abe54dc',
  clean: true,
  will: ['shellyplus1pm-a8032abe54dc/online', 'false', { qos: 1, retain: true }],
  subscriptions: [
    ['shellyplus1pm-a8032abe54dc/rpc', 1],
    ['shellyplus1pm-a8032abe54dc/command', 1],
    ['shellyplus1pm-a8032abe54dc/command/switch:0', 1],
    ['shellies/command', 1],
  ],
  says: [
    ['shellyplus1pm-a8032abe54dc/online', 'true', { qos: 1, retain: true }],
    [
      'shellyplus1pm-a8032abe54dc/events/rpc',
      '{"src":"shellyplus1pm-a8032abe54dc","dst":"shellyplus1pm-a8032abe54dc/events","method":"NotifyStatus","params":{"ts":1631186545.04,"switch:0":{"id":0,"output":true,"source":"button"}}}',
      { qos: 1 },
    ],
    ['shellyplus1pm-a8032abe54dc/status/cloud', '{"connected":false}', { qos: 1 }],
    ['shellyplus1pm-a8032abe54dc/status/input:0', '{"id":0,"state":false}', { qos: 1 }],
  ],
  readings: {
    topic: 'shellyplus1pm-a8032abe54dc/status/switch:0',
    schema: { apower: { type: 'number' }, output: { type: 'boolean' } },
    payloads: [
      '{"id":0,"source":"init","output":true,"apower":12.4,"voltage":231.2,"aenergy":{"total":6.532}}',
      '{"id":0,"source":"MQTT","output":false,"apower":0.0,"voltage":231.1,"aenergy":{"total":6.532}}',
    ],
    stored: [
      { apower: 12.4, output: true },
      { apower: 0, output: false },
    ],
  },
}

/** A Shelly of the first generation: a topic for each value. */
const shelly1: FirmwareScript = {
  clientId: 'shellyplug-s-02086E',
  clean: true,
  will: ['shellies/shellyplug-s-02086E/online', 'false', retained],
  subscriptions: [
    ['shellies/command', 0],
    ['shellies/shellyplug-s-02086E/command', 0],
    ['shellies/shellyplug-s-02086E/relay/0/command', 0],
  ],
  says: [
    ['shellies/shellyplug-s-02086E/online', 'true', retained],
    [
      'shellies/announce',
      '{"id":"shellyplug-s-02086E","model":"SHPLG-S","mac":"807D3A02086E","ip":"192.168.15.12","new_fw":false,"fw_ver":"20230913-113421/v1.14.0-gcb84623"}',
    ],
    ['shellies/shellyplug-s-02086E/announce', '{"id":"shellyplug-s-02086E"}'],
    ['shellies/shellyplug-s-02086E/relay/0', 'on', retained],
    ['shellies/shellyplug-s-02086E/relay/0/energy', '1274', retained],
    ['shellies/shellyplug-s-02086E/temperature', '31.20', retained],
  ],
  readings: {
    topic: 'shellies/shellyplug-s-02086E/relay/0/power',
    source: { format: 'plain' },
    schema: { power: { type: 'number' } },
    payloads: ['12.40', '0.00'],
    stored: [{ power: 12.4 }, { power: 0 }],
  },
}

describe('a device connects as it was bought, and its readings are stored:', () => {
  test.each([
    ['Tasmota', tasmota],
    ['ESPHome', esphome],
    ['Shelly of the second generation', shellyPlus],
    ['Shelly of the first generation', shelly1],
  ])('%s', async (_, script) => {
    await converse(service, connect, script)
  })
})
