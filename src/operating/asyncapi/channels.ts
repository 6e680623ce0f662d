import { publishBytesMax } from '../../../connectors/mqtt-broker/guard/fixed-header.ts'
import { tailQuery } from '../../reading/live/tail-api.ts'
import type { JsonSchema } from '../../requests/http/schema.ts'
import {
  alertMessages,
  type Messages,
  ownMessages,
  readingsMessages,
  tailMessages,
} from './messages.ts'

/** What goes over topics, or over a WebSocket, and what can be done there. */
export interface Channel {
  /** Left out for topics that users choose. */
  readonly address?: string
  readonly title: string
  readonly description: string
  readonly parameters?: Readonly<Record<string, { readonly description: string }>>
  readonly messages: Messages
  readonly bindings?: JsonSchema
  /** By their ids. Of AsyncAPI it is the service that acts: it receives what clients publish. */
  readonly operations: Readonly<Record<string, Operation>>
}

export interface Operation {
  readonly action: 'receive' | 'send'
  readonly summary: string
  readonly description: string
  readonly bindings?: JsonSchema
}

const parameters = {
  streamId: { description: 'The id of a data stream of the user.' },
  userId: { description: 'The id of the user whose credentials the client has.' },
  deviceId: { description: 'The id of the device, which is its `apiKey`.' },
  path: { description: 'One or more levels; in subscriptions with wildcards, too.' },
}

const qualityOfService = { mqtt: { qos: 1, bindingVersion: '0.2.0' } }

const taken = [
  'QoS 0, 1 or 2. PUBACK and PUBREC mean that the message is on disk, not that every reading in it was',
  'accepted: what was refused is in the quarantine of the stream, with the reason. At most',
  `${publishBytesMax} bytes in a packet. Needs the permission \`data:write\`.`,
].join(' ')

const passedOn = [
  'The message as it came, once it is on disk, if at least one of its readings was accepted; with the',
  'QoS that it came with, and no higher one than was subscribed to. Needs the permission `data:read`.',
].join(' ')

const kept = [
  'QoS 0, 1 or 2, retained or not; what waits for a client whose session is kept outlives a restart.',
].join(' ')

export const mqttChannels: Readonly<Record<string, Channel>> = {
  readings: {
    address: 'streams/{streamId}/data',
    title: 'Readings of a data stream',
    description:
      'In the format that `source.format` of the stream names: `json` unless it says otherwise.',
    parameters: { streamId: parameters.streamId },
    messages: readingsMessages,
    operations: {
      takeReadings: {
        action: 'receive',
        summary: 'Publish readings of a stream.',
        description: taken,
        bindings: qualityOfService,
      },
      passReadingsOn: {
        action: 'send',
        summary: 'Subscribe to the readings of a stream.',
        description: passedOn,
        bindings: qualityOfService,
      },
    },
  },
  events: {
    address: 'streams/{streamId}/events',
    title: 'Alerts of a data stream',
    description: 'What rules of the stream have found. Only the service publishes here.',
    parameters: { streamId: parameters.streamId },
    messages: alertMessages,
    operations: {
      tellOfAlerts: {
        action: 'send',
        summary: 'Subscribe to the alerts of a stream.',
        description:
          'With QoS 1; after a crash one may come again. Needs the permission `data:read`.',
        bindings: qualityOfService,
      },
    },
  },
  ownTopics: {
    title: 'Readings on topics of your own',
    description: [
      'For devices that cannot change theirs: topics that match `source.topic` of a stream. A message goes',
      'to every stream whose filter matches, and is private to the user.',
    ].join(' '),
    messages: readingsMessages,
    operations: {
      takeReadingsOnOwnTopic: {
        action: 'receive',
        summary: 'Publish readings on a topic of your own.',
        description: taken,
        bindings: qualityOfService,
      },
      passReadingsOfOwnTopicOn: {
        action: 'send',
        summary: 'Subscribe to a topic of your own.',
        description: `A filter that matches nothing but topics of one stream. ${passedOn}`,
        bindings: qualityOfService,
      },
    },
  },
  userSpace: {
    address: 'users/{userId}/{path}',
    title: "A user's own space",
    description:
      'Commands to devices, settings, anything that clients of one user send each other.',
    parameters: { userId: parameters.userId, path: parameters.path },
    messages: ownMessages,
    operations: {
      takeOwnMessage: {
        action: 'receive',
        summary: 'Publish in your space.',
        description: `${kept} Needs the permission \`data:write\`.`,
      },
      passOwnMessageOn: {
        action: 'send',
        summary: 'Subscribe in your space.',
        description: `Any filter that begins with it. ${kept} Needs the permission \`data:read\`.`,
      },
    },
  },
  deviceSpace: {
    address: 'users/{userId}/devices/{deviceId}/{path}',
    title: "A device's part of that space",
    description:
      'What its `commandTopic` begins with: the only part that the key of a device opens.',
    parameters: {
      userId: parameters.userId,
      deviceId: parameters.deviceId,
      path: parameters.path,
    },
    messages: ownMessages,
    operations: {
      takeDeviceMessage: {
        action: 'receive',
        summary: 'Publish as a device.',
        description: kept,
      },
      passCommandsOn: {
        action: 'send',
        summary: 'Subscribe to the commands of a device.',
        description: kept,
      },
    },
  },
}

export const webSocketChannels: Readonly<Record<string, Channel>> = {
  tail: {
    address: '/streams/{streamId}/tail',
    title: 'The readings of a stream as they arrive',
    description: 'With the subprotocol `streamvault.v1`. Clients have nothing to say here.',
    parameters: { streamId: parameters.streamId },
    messages: tailMessages,
    bindings: { ws: { method: 'GET', query: tailQuery, bindingVersion: '0.1.0' } },
    operations: {
      tailReadings: {
        action: 'send',
        summary: 'Follow the readings of a stream.',
        description:
          'Each message has a position, from which one can go on without a gap. Needs the permission `data:read`.',
      },
    },
  },
}
