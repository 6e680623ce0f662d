/** Every type of stream that the interface names. */
export const streamTypes = [
  'iot_sensor',
  'api_pull',
  'event_stream',
  'database',
  'manufacturing',
  'building_systems',
  'occupancy',
  'service',
] as const

export type StreamType = (typeof streamTypes)[number]
