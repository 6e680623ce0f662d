import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils'
import type { LocalNode } from './evm-nodes.ts'

const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
])

/** What a token of ERC-20 says of itself, and how much of it somebody has. */
export async function tokenAt(node: LocalNode, to: string, holder: string) {
  const asked = async (functionName: 'name' | 'symbol' | 'decimals' | 'totalSupply') => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName })
    const answer = (await node.call('eth_call', { to, data }, 'latest')) as `0x${string}`
    return String(decodeFunctionResult({ abi: tokenAbi, functionName, data: answer }))
  }
  return {
    name: await asked('name'),
    symbol: await asked('symbol'),
    decimals: await asked('decimals'),
    supply: await asked('totalSupply'),
    balance: await balanceAt(node, to, holder),
  }
}

async function balanceAt(node: LocalNode, to: string, holder: string): Promise<string> {
  const functionName = 'balanceOf'
  const args = [holder as `0x${string}`] as const
  const data = encodeFunctionData({ abi: tokenAbi, functionName, args })
  const answer = (await node.call('eth_call', { to, data }, 'latest')) as `0x${string}`
  return String(decodeFunctionResult({ abi: tokenAbi, functionName, data: answer }))
}
