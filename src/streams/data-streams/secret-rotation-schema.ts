import {
  dateTime,
  idParams,
  keyHeaders,
  nullable,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

/** Seconds for which the secret before stays good. */
export const usualOverlapS = 86_400

export const rotateSourceSecret = {
  operationId: 'rotateSourceSecret',
  summary: 'Replace the secret of the webhook of a stream, with a time of overlap.',
  description:
    'Messages that are signed with the old secret are taken until the overlap ends. At most two secrets are good at a time: rotating again ends the older one.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  headers: keyHeaders,
  body: record(
    {
      secret: { ...text, minLength: 1, maxLength: 2_000 },
      overlapSeconds: {
        type: 'integer',
        minimum: 0,
        maximum: 604_800,
        default: usualOverlapS,
      },
    },
    {
      optional: ['overlapSeconds'],
      examples: [{ secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', overlapSeconds: 3_600 }],
    },
  ),
  response: {
    200: record({
      streamId: uuid,
      previousUntil: {
        ...nullable(dateTime),
        description: 'Until when the old secret is good; null: no longer.',
      },
    }),
  },
} as const
