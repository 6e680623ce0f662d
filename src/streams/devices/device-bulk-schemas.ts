import { describedOnly, keyHeaders, listOf, record, text } from '../../requests/http/schema.ts'
import { bulkMax } from './device.ts'
import { deviceWithSecret, newDevice } from './device-schemas.ts'

const table = {
  ...text,
  description: [
    'The first line names the columns: `name`, `streamId` (several are separated by spaces) or',
    '`streamName`, and those of `clientId`, `certificateName`, `readingsPerSecond`, `burst` and',
    '`expiresAt` that are needed. An empty cell is as good as none.',
  ].join(' '),
  examples: ['name,streamId\nboiler 7,0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60\n'],
}

const answeredTable = {
  ...text,
  description: 'With a first line of names. What would be a formula begins with an apostrophe.',
  examples: [
    'name,apiKey,apiSecret,streamIds,clientId,certificateName,expiresAt,commandTopic\r\nboiler 7,sv_dev_0a1b2c3d4e5f60718293a4b5,shown-this-once,0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60,,,,users/0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f61/devices/sv_dev_0a1b2c3d4e5f60718293a4b5/\r\n',
  ],
}

export const createDevices = {
  operationId: 'createDevices',
  summary: 'Make credentials for many devices at once, as JSON or as CSV.',
  description: [
    `At most ${bulkMax}. All are made, or none; then every line that is wrong is named. With`,
    '`Accept: text/csv` the answer is a table, too. In JSON each may have `streamName` in place of',
    '`streamIds`.',
  ].join(' '),
  tags: ['Devices'],
  headers: keyHeaders,
  body: {
    content: {
      'application/json': {
        schema: describedOnly(
          listOf(newDevice, {
            minItems: 1,
            maxItems: bulkMax,
            examples: [[{ name: 'boiler 7', streamIds: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] }]],
          }),
        ),
      },
      'text/csv': { schema: describedOnly(table) },
    },
  },
  response: {
    201: {
      description: 'The devices, in the order of the request.',
      content: {
        'application/json': { schema: record({ devices: listOf(deviceWithSecret) }) },
        'text/csv': { schema: answeredTable },
      },
    },
  },
} as const
