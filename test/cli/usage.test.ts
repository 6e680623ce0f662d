import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withCommandTable } from '../../scripts/command-table.ts'
import { commands } from '../../src/cli/commands.ts'
import { streamvault } from '../support/command-line.ts'

describe('wrong usage is exit code 2 and one line that names it', () => {
  test.each([
    [[], 'a command is needed'],
    [['keys'], 'keys needs more: the commands are keys create'],
    [['dance'], 'there is no command dance'],
    [['keys', 'dance'], 'keys needs more'],
    [['key', 'create'], 'there is no command key create: did you mean keys create?'],
    [
      ['key'],
      'there is no command key: did you mean keys? The commands are keys create, keys list',
    ],
    [['alert', 'ack'], 'did you mean alerts? The commands are alerts list'],
    [['rules', 'create', '--below', '--name'], '--below needs a value'],
    [['rules', 'create', '--name', 'n'], '--vault VAULT or --tags LIST is needed'],
    [['rules', 'create', '--name', 'n', '--vault', 'v'], 'one of --above, --below'],
    [['rules', 'create', '--name', 'n', '--vault', 'v', '--above', '1'], '--field FIELD is needed'],
    [
      ['rules', 'create', '--name', 'n', '--vault', 'v', '--field', 'f', '--above', 'hot'],
      "--above must be a number, not 'hot'",
    ],
    [
      ['rules', 'create', '--name', 'n', '--tags', 'berlin', '--above', '1'],
      '--tags must be such as',
    ],
    [['vaults', 'list', '--limit', '0'], "--limit must be a number from 1 to 1000000, not '0'"],
    [['serve', '--fast'], 'there is no option --fast: --help shows all options'],
    [['users', 'list', '--jsn'], 'there is no option --jsn: did you mean --json?'],
    [['init', '--file', 'x'], 'there is no option --file'],
    [['users', 'list', '-x'], 'there is no option -x'],
    [['keys', 'create'], '--user USER is needed'],
    [['keys', 'create', '--user'], '--user needs a value'],
    [['keys', 'create', '--user', '--name', 'n'], '--user needs a value'],
    [['keys', 'create', '--user='], '--user needs a value'],
    [['keys', 'create', '--user', 'a', '--user', 'b'], '--user was given twice'],
    [['keys', 'create', '--user', 'a', '--kind', 'paper'], '--kind must be test or live'],
    [['keys', 'create', '--user', 'a', '--scopes', 'data:eat'], "no scope 'data:eat'"],
    [['keys', 'create', '--user', 'a', '--permission', 'custom'], '--scopes goes with'],
    [['keys', 'rotate'], 'KEY is needed'],
    [['keys', 'rotate', 'k', '--overlap', 'long'], "--overlap must be such as 1h or 0, not 'long'"],
    [['keys', 'revoke', 'k', 'l'], 'there is more than KEY'],
    [['users', 'list', 'all'], 'there is more than nothing'],
    [['users', 'list', '--json=yes'], '--json takes no value'],
    [['users', 'list', '--url', 'ftp://host'], '--url must be'],
    [['users', 'list', '--url', 'http://key:hush-hush@host'], '--url must be'],
    [['doctor', '--url', 'nowhere'], '--url must be'],
  ])('%j', async (words, problem) => {
    const { code, stdout, stderr } = await streamvault(words)

    expect(stderr).toContain(problem)
    expect(stderr).toMatch(/^streamvault: [^\n]+\n$/)
    expect(stderr).not.toContain('hush-hush')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('with --json it is an object on standard error', async () => {
    const { code, stderr } = await streamvault(['keys', 'create', '--json'])

    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toEqual({ error: 'wrong_usage', message: '--user USER is needed' })
  })
})

describe('a secret among the arguments', () => {
  test.each([['--secret'], ['--key'], ['--api-secret'], ['--password'], ['--token']])(
    'is refused under %s, and not shown',
    async (option) => {
      const separate = await streamvault(['users', 'list', option, 'hush-hush'])
      const joined = await streamvault(['users', 'list', `${option}=hush-hush`])

      for (const { code, stderr, stdout } of [separate, joined]) {
        expect(code).toBe(2)
        expect(stderr).toContain('STREAMVAULT_ADMIN_SECRET in the environment')
        expect(stderr + stdout).not.toContain('hush-hush')
      }
    },
  )
})

describe('--help', () => {
  test.each(commands)('of $name names all that it takes, and the exit codes', async (command) => {
    const { code, stdout, stderr } = await streamvault([...command.name.split(' '), '--help'])

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(command.summary)
    expect(stdout).toContain('Exit codes: 0 done, 1 failed, 2 wrong usage.')
    const options = [...command.options, { name: 'json' }, { name: 'help' }]
    for (const { name } of options) expect(stdout).toMatch(new RegExp(`^ +--${name}\\b`, 'm'))
    for (const { name } of command.operands) expect(stdout).toMatch(new RegExp(`^ +${name} `, 'm'))
  })

  test('of nothing lists every command', async () => {
    const { code, stdout } = await streamvault(['--help'])

    expect(code).toBe(0)
    for (const { name } of commands) expect(stdout).toContain(`  ${name}`)
  })

  test('of a group lists its commands only', async () => {
    const { stdout } = await streamvault(['keys', '--help'])

    expect(stdout).toContain('keys rotate-signing-key')
    expect(stdout).not.toContain('users create')
  })
})

describe('the table of docs/command-line.md', () => {
  const page = readFileSync('docs/command-line.md', 'utf8')

  test('has what --help prints, in the same order', async () => {
    const { stdout } = await streamvault(['--help'])
    const lines = [...stdout.matchAll(/^ {2}(\S.*?) {2,}(\S.*)$/gm)]
    const rows = [...page.matchAll(/^\| `([^`]+)` \| (.*?) \|/gm)]

    expect(rows.map(pairOf)).toEqual(lines.map(pairOf))
  })

  test('has the options of each command, as `npm run docs` writes them', () => {
    expect(withCommandTable(page, commands)).toBe(page)
  })
})

/** A command and what it does, as a line or a row has them. */
function pairOf([, call, summary]: RegExpMatchArray): string {
  return `${call}: ${summary}`
}
