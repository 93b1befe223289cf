// Economic event codes: United Kingdom.

/** Code to what it means (spec 2.9). */
export const ukEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  GDP_GROWTH_RATE_MOM: 'Real gross domestic product by month: growth over the month before.',
  INFLATION_RATE_HEADLINE_YOY:
    "Consumer prices (CPI): change over a year, the measure of the Bank of England's target.",
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices (CPI): change over the month before.',
  INFLATION_RATE_CORE_YOY: 'Consumer prices without energy, food, alcohol and tobacco: change over a year.',
  INFLATION_RPI_YOY:
    'Retail prices index, which many contracts and index-linked gilts follow: change over a year.',
  INFLATION_PPI_OUTPUT_YOY: 'Prices that manufacturers charge: change over a year.',
  INFLATION_PPI_INPUT_YOY: 'Prices that manufacturers pay for materials and fuel: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force without work, over three months (ILO definition).',
  EMPLOYMENT_CLAIMANT_COUNT_CHANGE:
    'Change in the number of people who claim unemployment benefits, over the month.',
  EMPLOYMENT_EMPLOYMENT_CHANGE: 'Change in the number of people in work, over three months.',
  EMPLOYMENT_AVERAGE_EARNINGS_INCL_BONUS_YOY:
    'Average weekly earnings with bonuses, over three months: change over a year.',
  EMPLOYMENT_AVERAGE_EARNINGS_EXCL_BONUS_YOY:
    'Average weekly earnings without bonuses, over three months: change over a year.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM: 'Volume of retail sales: change over the month before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Volume of retail sales: change over a year.',
  CONSUMPTION_RETAIL_SALES_BRC_YOY: "Sales of the British Retail Consortium's members: change over a year.",
  CONSUMPTION_CONSUMER_CONFIDENCE_GFK:
    "GfK's survey of consumer confidence; above 0 more are hopeful than not.",
  CONSUMPTION_CONSUMER_CREDIT_CHANGE: 'Net lending to persons, mortgages not counted, in the month.',
  BUSINESS_PMI_MANUFACTURING_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_PMI_CONSTRUCTION_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in construction; above 50 they report growth.",
  BUSINESS_INDUSTRIAL_PRODUCTION_MOM:
    'Output of factories, mines and utilities: change over the month before.',
  BUSINESS_MANUFACTURING_PRODUCTION_MOM: 'Output of factories: change over the month before.',
  BUSINESS_INDUSTRIAL_TRENDS_ORDERS_CBI:
    'Order books of manufacturers, by the Confederation of British Industry; above 0 more are above normal than below.',
  HOUSING_PRICE_INDEX_HALIFAX_MOM: "House prices by Halifax's mortgages: change over the month before.",
  HOUSING_PRICE_INDEX_NATIONWIDE_MOM: "House prices by Nationwide's mortgages: change over the month before.",
  HOUSING_PRICE_BALANCE_RICS:
    'Share of surveyors who saw house prices rise less that of those who saw them fall, by the Royal Institution of Chartered Surveyors.',
  HOUSING_MORTGAGE_APPROVALS: 'Loans for house purchase that were approved in the month.',
  TRADE_BALANCE: 'Exports of goods and services less imports in the month.',
  TRADE_BALANCE_GOODS: 'Exports of goods less imports in the month.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  BONDS_AUCTION_GILT_10Y: 'Auction of 10-year gilts: the average accepted yield.',
  BONDS_AUCTION_GILT_30Y: 'Auction of 30-year gilts: the average accepted yield.',
  BONDS_PUBLIC_SECTOR_NET_BORROWING: 'What the public sector spent beyond what it took in, in the month.',
  POLITICAL_EVENT_GENERAL_ELECTION: 'Election of the House of Commons.',
  POLITICAL_EVENT_BUDGET:
    "The Chancellor's budget statement, with forecasts of the Office for Budget Responsibility.",
  POLITICAL_EVENT_PRIME_MINISTER_SPEECH: 'Speech or statement of the Prime Minister that markets watch.',
  BOE_POLICY_INTEREST_RATE_DECISION: "The Bank of England's decision on Bank Rate.",
  BOE_POLICY_VOTES_FOR_CHANGE:
    'How the Monetary Policy Committee voted on Bank Rate: members for a rise, for a cut, for no change.',
  BOE_POLICY_MEETING_MINUTES: 'Minutes of the Monetary Policy Committee, published with its decision.',
  BOE_POLICY_MONETARY_POLICY_REPORT: "The Bank of England's quarterly forecasts of growth and inflation.",
  BOE_POLICY_FINANCIAL_STABILITY_REPORT:
    "The Bank of England's half-yearly report on risks to the financial system.",
  BOE_SPEECH_GOVERNOR: 'Speech of the Governor of the Bank of England.',
  BOE_SPEECH_MPC_MEMBER: 'Speech of another member of the Monetary Policy Committee.',
  BOE_SPEECH_TESTIMONY: 'The Governor before the Treasury Committee of Parliament.',
};
