import { record, text } from '../../requests/http/schema.ts'

const failingSchema = {
  type: 'object',
  description: 'Each failing part, with what is wrong.',
  additionalProperties: text,
} as const

const degraded = {
  type: 'object',
  description:
    'Each part that does not work and that all else can do without for a while, with what is wrong.',
  additionalProperties: text,
  examples: [{}],
} as const

const readinessAnswers = {
  200: record(
    { status: { const: 'ready' }, failing: { ...failingSchema, examples: [{}] }, degraded },
    { description: 'Everything works.' },
  ),
  503: record(
    {
      status: { const: 'not_ready' },
      failing: { ...failingSchema, examples: [{ journal: 'the disk is full' }] },
      degraded,
    },
    { description: 'Something fails.' },
  ),
}

export const readLiveness = {
  operationId: 'readLiveness',
  summary: 'Ask whether the process works.',
  tags: ['Operations'],
  response: { 200: record({ status: { const: 'live' } }) },
} as const

export const readReadiness = {
  operationId: 'readReadiness',
  summary: 'Ask whether every part of the service works.',
  tags: ['Operations'],
  response: readinessAnswers,
} as const

export const readHealth = {
  ...readReadiness,
  operationId: 'readHealth',
  summary: 'The same as `/health/ready`.',
} as const

export const readMetrics = {
  operationId: 'readMetrics',
  summary: 'Read the figures of the service.',
  tags: ['Operations'],
  response: {
    200: {
      description: 'The text format of Prometheus; every name begins with streamvault_.',
      content: {
        'text/plain': {
          schema: { ...text, examples: ['streamvault_readings_accepted_total 7\n'] },
        },
      },
    },
  },
} as const
