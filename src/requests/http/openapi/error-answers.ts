import { type ErrorCode, type ErrorEntry, errorCatalogue } from '../../../core/error-catalogue.ts'
import { remedyOf } from '../../../core/errors.ts'
import { component, count, type JsonSchema, listOf, record, text } from '../schema.ts'

const catalogue: Readonly<Record<ErrorCode, ErrorEntry>> = errorCatalogue

export const errorDetail = component(
  'ErrorDetail',
  record(
    {
      path: { ...text, description: 'Where, as a dotted path; empty for all of it.' },
      message: text,
    },
    { examples: [{ path: 'name', message: 'must be a text of 1 to 200 characters' }] },
  ),
)

/**
 * The body of every error answer (decisions.md#errors); some operations add members of their own.
 */
export const errorSchema = component('Error', {
  ...record(
    {
      error: { ...text, description: 'A stable code; see the catalogue of errors.' },
      message: { ...text, description: 'What is wrong, for people.' },
      statusCode: { type: 'integer', minimum: 400, maximum: 599 },
      remedy: { ...text, description: 'What to do about it, for people.' },
      retryAfter: { ...count, description: 'Seconds until another try makes sense.' },
      details: listOf(errorDetail),
    },
    { optional: ['retryAfter', 'details'] },
  ),
  additionalProperties: true,
})

/** Seconds that examples and the header of the document show. */
const retryAfterExampleS = 5

/** The error answers of an operation, by status: which codes each can have, with an example. */
export function errorAnswers(codes: readonly ErrorCode[]): JsonSchema {
  const statuses = Map.groupBy(codes, (code) => catalogue[code].status)
  const answers = [...statuses].map(([status, ofStatus]) => [
    String(status),
    {
      description: ofStatus.map((code) => `\`${code}\`: ${catalogue[code].meaning}`).join('\n\n'),
      ...(hasRetryAfter(status) && { headers: { 'Retry-After': retryAfterHeader } }),
      content: {
        'application/json': {
          schema: {
            $ref: '#/components/schemas/Error',
            properties: { error: { enum: ofStatus }, statusCode: { const: status } },
          },
          examples: Object.fromEntries(
            ofStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
          ),
        },
      },
    },
  ])
  return Object.fromEntries(answers) as JsonSchema
}

const retryAfterHeader = { description: 'Seconds until another try makes sense.', schema: count }

function hasRetryAfter(status: number): boolean {
  return status === 429 || status === 503
}

/** An example of each of the codes. */
export function errorExamples(codes: ReadonlySet<ErrorCode>): JsonSchema {
  const shown = Object.entries(catalogue).filter(([code]) => codes.has(code as ErrorCode))
  const examples = shown.map(([code, { status, meaning, remedy }]) => [
    code,
    {
      summary: remedy,
      value: {
        error: code,
        message: meaning,
        statusCode: status,
        remedy: hasRetryAfter(status) ? remedyOf(code as ErrorCode, retryAfterExampleS) : remedy,
        ...(hasRetryAfter(status) && { retryAfter: retryAfterExampleS }),
      },
    },
  ])
  return Object.fromEntries(examples) as JsonSchema
}
