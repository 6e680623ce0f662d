/**
 * What espMqttClient 1.7.3 with ArduinoJson 7.2 has sent for the sketch of docs/recipes/esp32.md, when both were compiled
 * for Linux: recorded at a socket, in the order in which it was sent.
 */

const topic = '001a65737033322f3234646363336131623263342f72656164696e67'
const text = (value: string) => Buffer.from(value).toString('hex')
const bytes = (...hex: readonly string[]) => Buffer.from(hex.join(''), 'hex')

/** A persistent session, a keep-alive of 30 s, `KEY` and `SECRET`. */
export const recordedConnect = bytes(
  '102b00044d51545404c0001e001265737033322d32346463633361316232633400034b45590006534543524554',
)

/** The first reading, with QoS 1. */
export const first = bytes(
  `3255${topic}0001`,
  text('{"timestamp":1769853600,"temperature":53.33,"rssi":-61}'),
)

/** The second one, whose acknowledgement was lost with the connection. */
export const second = bytes(
  `3255${topic}0002`,
  text('{"timestamp":1769853660,"temperature":54.44,"rssi":-62}'),
)

/** In one write, after the next CONNACK: the second one again, marked as a duplicate, and what was measured meanwhile. */
export const afterReconnect = bytes(
  `3a55${topic}0002`,
  text('{"timestamp":1769853660,"temperature":54.44,"rssi":-62}'),
  `3255${topic}0003`,
  text('{"timestamp":1769853720,"temperature":53.89,"rssi":-60}'),
)

export const ping = bytes('c000')

export const end = bytes('e000')
