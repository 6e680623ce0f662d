import type { PageBlock } from './page-blocks.ts'

/** How many commands a reader of a page types or copies: a line each, with those that it goes on in. */
export function commandsOf(blocks: readonly PageBlock[]): number {
  return blocks
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => commandsIn(text))
    .reduce((sum, count) => sum + count, 0)
}

function commandsIn(text: string): number {
  const lines = text
    .replaceAll(/^#.*$/gm, '')
    // What stands between quotes, in a here-document or in a loop belongs to the command that it begins with.
    .replaceAll(/<<'?(\w+)'?[^\n]*\n.*?^\1$/gms, '')
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, 'quoted')
    .replaceAll(/^(?:for|while|until)\b.*?^done\b/gms, 'loop')
    .replaceAll(/\{\n.*?^\}/gms, '{}')
    .replaceAll(/[|&(]\s*\n/g, ' ')
    .split('\n')
  return lines.filter((line) => line.trim() !== '').length
}
