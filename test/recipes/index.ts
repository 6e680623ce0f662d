import { airrohr } from './airrohr.ts'
import { awsIotCore } from './aws-iot-core.ts'
import { azureEventGrid } from './azure-event-grid.ts'
import { bacnetAirHandler } from './bacnet-air-handler.ts'
import { campbellToa5 } from './campbell-toa5.ts'
import { chirpstack } from './chirpstack.ts'
import { cloudevents } from './cloudevents.ts'
import { debezium } from './debezium.ts'
import { ecowitt } from './ecowitt.ts'
import { esp32 } from './esp32.ts'
import { esphome } from './esphome.ts'
import { fronius } from './fronius.ts'
import { homeAssistant } from './home-assistant.ts'
import { influxdbArduino } from './influxdb-arduino.ts'
import { kepware } from './kepware.ts'
import { nodeExporter } from './node-exporter.ts'
import { opcuaPubsub } from './opcua-pubsub.ts'
import { openMeteo } from './open-meteo.ts'
import { owntracks } from './owntracks.ts'
import type { Recipe } from './recipe.ts'
import { ruuviGateway } from './ruuvi-gateway.ts'
import { sdm630 } from './sdm630.ts'
import { shellyGen2 } from './shelly-gen2.ts'
import { siemensEdge } from './siemens-edge.ts'
import { solaredge } from './solaredge.ts'
import { tasmotaDs18b20 } from './tasmota-ds18b20.ts'
import { tasmotaFleet } from './tasmota-fleet.ts'
import { tasmotaPlug } from './tasmota-plug.ts'
import { tempest } from './tempest.ts'
import { theThingsStack } from './the-things-stack.ts'
import { traccar } from './traccar.ts'
import { victron } from './victron.ts'
import { zigbee2mqtt } from './zigbee2mqtt.ts'
import { zigbee2mqttFleet } from './zigbee2mqtt-fleet.ts'

/** One for each page of docs/recipes. */
export const recipes: readonly Recipe[] = [
  airrohr,
  awsIotCore,
  azureEventGrid,
  bacnetAirHandler,
  campbellToa5,
  chirpstack,
  cloudevents,
  debezium,
  ecowitt,
  esp32,
  esphome,
  fronius,
  homeAssistant,
  influxdbArduino,
  kepware,
  nodeExporter,
  opcuaPubsub,
  openMeteo,
  owntracks,
  ruuviGateway,
  sdm630,
  shellyGen2,
  siemensEdge,
  solaredge,
  tasmotaDs18b20,
  tasmotaFleet,
  tasmotaPlug,
  tempest,
  theThingsStack,
  traccar,
  victron,
  zigbee2mqtt,
  zigbee2mqttFleet,
]
