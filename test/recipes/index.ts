import { owntracks } from './owntracks.ts'
import type { Recipe } from './recipe.ts'
import { shellyGen2 } from './shelly-gen2.ts'
import { tasmotaDs18b20 } from './tasmota-ds18b20.ts'
import { tasmotaPlug } from './tasmota-plug.ts'
import { zigbee2mqtt } from './zigbee2mqtt.ts'

/** One for each page of docs/recipes. */
export const recipes: readonly Recipe[] = [
  owntracks,
  shellyGen2,
  tasmotaDs18b20,
  tasmotaPlug,
  zigbee2mqtt,
]
