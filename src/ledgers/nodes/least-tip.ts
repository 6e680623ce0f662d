const gwei = 1_000_000_000n

/**
 * What nodes of Polygon PoS want as a tip, in wei per gas: they take none below 25 gwei, and propose 30
 * (https://docs.polygon.technology/pos/concepts/transactions/eip-1559/).
 */
export const tipMinOfPolygon = 30n * gwei
