import { serviceOptions } from '../src/cli/administration.ts'
import type { Command } from '../src/cli/command.ts'
import { callOf, flagOf } from '../src/cli/help.ts'

const marked = /^<!-- commands -->\n.*?^<!-- end -->$/ms

/** A page whose table of commands is written again, between its mark and `<!-- end -->`. */
export function withCommandTable(page: string, commands: readonly Command[]): string {
  return page.replace(marked, () => `<!-- commands -->\n${tableOf(commands)}\n<!-- end -->`)
}

function tableOf(commands: readonly Command[]): string {
  const rows = commands.map((command) => {
    const own = command.options.filter((one) => !one.isRequired && !serviceOptions.includes(one))
    const options = own.map((option) => `\`${flagOf(option)}\``).join(' ')
    return `| \`${callOf(command)}\` | ${command.summary} | ${options} |`
  })
  return ['| command | what it does | options |', '| --- | --- | --- |', ...rows].join('\n')
}
