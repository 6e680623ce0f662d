import type { ImportRule } from './stored-data-rules.ts'

/** Of what is told of events: what happens, who is told, and how it gets there. */
export const tellingRules: readonly ImportRule[] = [
  // What can be told of the domains, and how it is written down with their changes.
  { from: /^src\/events\//, mayImport: [/^src\/(events|core|state|http)\//, /-schemas\.ts$/] },
  {
    // Who is told of events, and in which ways.
    from: /^src\/notifications\//,
    mayImport: [
      /^src\/(notifications|events|core|state|http)\//,
      /^src\/idempotency\/posts\.ts$/,
      // An inbox is followed as a stream is.
      /^src\/live\/(event-stream|open-tails|tail|tail-transport)\.ts$/,
    ],
  },
  // What is said of every attempt, for those who answer it.
  { from: /^src\/delivery\/attempt-schema\.ts$/, mayImport: [/^src\/http\/schema\.ts$/] },
  {
    // Deliveries, whatever they are made of: who takes which, what follows from an attempt.
    from: /^src\/delivery\//,
    mayImport: [/^src\/(delivery|core|state|threads)\//],
  },
  {
    // Tells of events over HTTP: deliveries are planned here, and attempted as the engine asks.
    from: /^src\/webhooks\//,
    mayImport: [
      /^src\/(webhooks|delivery|events|egress|core|state|http)\//,
      /^src\/(audit\/audit-log|auth\/authenticate|idempotency\/posts)\.ts$/,
    ],
  },
  {
    // Tells of events by mail: the same as webhooks, with addresses that have said yes.
    from: /^src\/mail\//,
    mayImport: [
      /^src\/(mail|delivery|events|core|state|http)\//,
      /^src\/(audit\/audit-log|config\/mail|idempotency\/posts)\.ts$/,
      /^src\/notifications\/inbox\/inbox-entry\.ts$/,
      /^processors\/alert-rules\.ts$/,
    ],
  },
]
