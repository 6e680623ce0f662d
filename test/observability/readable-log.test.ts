import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const logger = new URL('../../src/operating/observability/logger.ts', import.meta.url).href

/** What is logged as text by these statements, line by line, without its time. */
function linesOf(statements: string): readonly string[] {
  const script = `
    const { createLogger } = await import(${JSON.stringify(logger)})
    const log = createLogger({ level: 'info', format: 'text' })
    ${statements}`
  const words = ['--input-type=module', '-e', script]
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^\[[\d:]+\] /, ''))
}

test('a record is one line, whatever stands in its texts', () => {
  const lines = linesOf(`
    log.info({ name: 'a\\nb', topic: 'c\\r\\nd' }, 'one\\n[00:00:00] INFO: forged \\u001b[2J')
    log.info('\\u2028\\u0085')`)
  expect(lines).toEqual([
    'INFO (a\\nb): one\\n[00:00:00] INFO: forged \\u001b[2J {"topic":"c\\r\\nd"}',
    'INFO: \\u2028\\u0085',
  ])
})

test('a record turns no text round, and no member of it is shown raw', () => {
  const lines = linesOf(`
    log.info({ topic: '\\u202eb' }, '\\u2066a')
    log.info({ caller: 'c\\nforged', hostname: 'h\\nforged', pid: 'p\\nforged' }, 'x')`)
  expect(lines).toEqual([
    'INFO: \\u2066a {"topic":"\\u202eb"}',
    'INFO (p\\nforged) <c\\nforged>: x',
  ])
})

test('lines of a stack are indented, and no terminal obeys them', () => {
  const lines = linesOf(
    `log.error({ err: new Error('first\\n[00:00:00] INFO: forged \\u001b[2J') }, 'no')`,
  )
  expect(lines[0]).toBe('ERROR: no ')
  expect(lines.slice(1).filter((line) => !line.startsWith('  '))).toEqual([])
  expect(lines.join('\n')).toContain('          [00:00:00] INFO: forged \\u001b[2J')
})
