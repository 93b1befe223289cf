// Economic event codes: Hong Kong.

/** Code to what it means (spec 2.9). */
export const hkEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices (composite index): change over a year.',
  INFLATION_RATE_UNDERLYING_YOY:
    "Consumer prices without the effect of the government's one-off relief: change over a year.",
  INFLATION_PPI_HEADLINE_YOY: 'Producer prices of manufacturing: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force without work, over three months.',
  EMPLOYMENT_UNDEREMPLOYMENT_RATE:
    'Share of the labour force that works fewer hours than it would, over three months.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Value of retail sales: change over a year.',
  CONSUMPTION_RETAIL_SALES_VOLUME_YOY: 'Volume of retail sales: change over a year.',
  CONSUMPTION_VISITOR_ARRIVALS: 'People who came to visit in the month.',
  BUSINESS_PMI_COMPOSITE_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in the whole private economy; above 50 they report growth.",
  BUSINESS_CONFIDENCE: 'Quarterly survey of what large companies expect of business.',
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of manufacturing in the quarter: change over a year.',
  HOUSING_PRICE_INDEX_YOY:
    'Prices of private homes, by the Rating and Valuation Department: change over a year.',
  HOUSING_PROPERTY_TRANSACTIONS: 'Agreements for the sale of buildings registered in the month.',
  HOUSING_MORTGAGE_APPROVALS: "Mortgage loans approved in the month, by the Monetary Authority's survey.",
  TRADE_BALANCE: 'Exports of goods less imports in the month.',
  TRADE_EXPORTS_YOY: 'Exports of goods: change over a year.',
  TRADE_IMPORTS_YOY: 'Imports of goods: change over a year.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  BONDS_AUCTION_EXCHANGE_FUND_BILL: 'Tender of Exchange Fund bills: the average accepted yield.',
  BONDS_GOVERNMENT_BUDGET_BALANCE: 'What the government took in less what it spent since its year began.',
  POLITICAL_EVENT_POLICY_ADDRESS: "The Chief Executive's yearly policy address.",
  POLITICAL_EVENT_BUDGET: "The Financial Secretary's budget speech.",
  POLITICAL_EVENT_LEGISLATIVE_COUNCIL_ELECTION: 'Election of the Legislative Council.',
  HKMA_POLICY_INTEREST_RATE_DECISION:
    "The Hong Kong Monetary Authority's base rate, which follows the Federal Reserve's.",
  HKMA_POLICY_FOREIGN_EXCHANGE_RESERVES: 'Foreign reserves at the end of the month.',
  HKMA_POLICY_MONEY_SUPPLY_M3_YOY: 'Money supply (M3): change over a year.',
  HKMA_POLICY_AGGREGATE_BALANCE:
    "Balances of banks with the Monetary Authority, which move when it defends the currency's band.",
  HKMA_SPEECH_CHIEF_EXECUTIVE: 'Speech of the Chief Executive of the Monetary Authority.',
};
