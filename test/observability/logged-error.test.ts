import { expect, test } from 'vitest'
import { loggedError } from '../../src/operating/observability/logged-error.ts'

test('an error is logged with its stack, its code and its causes', () => {
  const why = new AggregateError([new Error('one'), 'two'], 'both failed')
  const error = Object.assign(new TypeError('it failed', { cause: why }), { code: 'EHOSTUNREACH' })

  expect(loggedError(error)).toEqual({
    type: 'TypeError',
    message: 'it failed',
    stack: expect.stringContaining('logged-error.test.ts') as string,
    code: 'EHOSTUNREACH',
    cause: {
      type: 'AggregateError',
      message: 'both failed',
      stack: expect.any(String) as string,
      errors: [{ type: 'Error', message: 'one', stack: expect.any(String) as string }, 'two'],
    },
  })
})

test('what libraries hang on errors is not logged, nor what addresses keep secret', () => {
  const request = { headers: { authorization: 'Bearer hush' }, body: 'hush' }
  const message =
    'no answer from https://ada:hush@vault.example:8443/a?token=hush, nor "mqtt://b:hush@c"'
  const error = Object.assign(new Error(message), { request, apiSecret: 'hush' })

  const logged = JSON.stringify(loggedError(new Error('asking failed', { cause: error })))

  expect(logged).not.toContain('hush')
  expect(logged).toContain('//[secret]@vault.example:8443/a?[secret]')
  expect(logged).toContain('mqtt://[secret]@c')
})

test('whatever else is thrown is logged as a text', () => {
  expect(
    [undefined, null, 7, 'words', { message: 'm', secret: 's' }, [1]].map((one) =>
      loggedError(one),
    ),
  ).toEqual(['undefined', 'null', '7', 'words', 'm', '[object Array]'])
})

test('an error that is its own cause comes to an end', () => {
  const error = new Error('again')
  error.cause = error

  expect(JSON.stringify(loggedError(error)).split('"again"').length).toBeLessThan(10)
})
